/**
 * Removes WebRTC from the page. A CSP does not cover it, so an injected script could send what it reads through it.
 * Imported first, before any other code of the page runs.
 */
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel", "WebTransport"])
  Reflect.deleteProperty(globalThis, name);
