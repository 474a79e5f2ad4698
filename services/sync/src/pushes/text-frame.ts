/**
 * Encodes a message as one unmasked text frame (RFC 6455, section 5.2), once for all recipients.
 *
 * @throws RangeError above 65,535 bytes
 */
export function textFrame(message: object): Buffer {
  const text = Buffer.from(JSON.stringify(message));
  const { length } = text;
  if (length > 0xffff) throw new RangeError(`a push of ${length} bytes`);
  const header = length < 126 ? [0x81, length] : [0x81, 126, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(header), text]);
}
