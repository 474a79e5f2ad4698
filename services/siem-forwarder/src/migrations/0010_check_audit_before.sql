-- without transaction
-- Reads every record while writes go on, so that attaching the table need not.
ALTER TABLE audit_records VALIDATE CONSTRAINT audit_records_before;
