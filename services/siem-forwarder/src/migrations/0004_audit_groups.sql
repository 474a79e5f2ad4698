-- Each filter of a list names whole groups of records with the same action and outcome, of one actor or of all. In each
-- group these indexes have the order of the chain, so that a page reads no more of a group than its limit.
CREATE INDEX audit_records_groups ON audit_records (chain_id, action, outcome, seq);
CREATE INDEX audit_records_actor_groups ON audit_records (chain_id, actor_id, action, outcome, seq);
DROP INDEX audit_records_action;
DROP INDEX audit_records_actor;
DROP INDEX audit_records_trouble;
