-- The rows of the records that are stored already: all of them are in the partition of what was before.
INSERT INTO audit_partitions (chain_id, from_time, to_time, first_seq, last_seq)
SELECT chain_id, '-infinity'::timestamptz, audit_before(), min(first_seq), max(last_seq) FROM audit_hours GROUP BY chain_id ORDER BY 1
ON CONFLICT (chain_id, from_time) DO UPDATE SET
  first_seq = least(audit_partitions.first_seq, excluded.first_seq),
  last_seq = greatest(audit_partitions.last_seq, excluded.last_seq);
