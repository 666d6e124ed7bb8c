-- A page of the movements of the credit, and how many there are, at one moment. It keeps its plan: planned anew by every request, what it
-- cost depended on what the planner thought of the size of the book, and not on the page.
create function credit_page(o text, page_ bigint, limit_ bigint) returns table (total bigint, id text, seq bigint, code text, phase text,
  "isDebit" boolean, amount text, "postedAfter" text, "availableAfter" text, "refType" text, "refId" text, "occurredAt" timestamptz)
language plpgsql stable
set plan_cache_mode = 'force_generic_plan' set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  n bigint;
begin
  select coalesce(max(t.credit_no), 0) into n from ledger_transfer t where t.org_id = o;
  return query
    select n, t.transfer_id, t.seq, t.code, t.phase, t.dr = 'credit', t.amount::text, t.posted_after::text, t.available_after::text,
      t.ref_type, t.ref_id, t.created_at
    from ledger_transfer t
    where t.org_id = o and t.credit_no > n - page_ * limit_ and t.credit_no <= n - (page_ - 1) * limit_
    order by t.credit_no desc;
  if not found then total := n; return next; end if;
end $$;
