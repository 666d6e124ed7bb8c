-- Every movement of the credit has a number, one after the other without a gap: the last one says how many there are, and a page is a
-- range of them. Counting a million rows for each page would be the cost of a page.

alter table ledger_transfer add column credit_no bigint;

alter table ledger_transfer no force row level security;
alter table ledger_transfer disable trigger ledger_transfer_stays;
update ledger_transfer t set credit_no = n.credit_no
  from (select org_id, transfer_id, row_number() over (partition by org_id order by seq) as credit_no
        from ledger_transfer where dr = 'credit' or cr = 'credit') n
  where n.org_id = t.org_id and n.transfer_id = t.transfer_id;
alter table ledger_transfer enable trigger ledger_transfer_stays;
alter table ledger_transfer force row level security;

alter table ledger_transfer
  add constraint ledger_credit_is_numbered check ((credit_no is not null) = (dr = 'credit' or cr = 'credit'));
create unique index ledger_credit_order on ledger_transfer (org_id, credit_no);

-- Whoever inserts holds the lock of the credit: no two draw the same number.
create function ledger_number_credit() returns trigger language plpgsql as $$
begin
  if new.dr = 'credit' or new.cr = 'credit' then
    select coalesce(max(credit_no), 0) + 1 into new.credit_no from ledger_transfer where org_id = new.org_id;
  end if;
  return new;
end $$;
create trigger ledger_transfer_number before insert on ledger_transfer
  for each row execute function ledger_number_credit();
