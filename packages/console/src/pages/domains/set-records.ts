import type { DnsRecord, domains, Input } from '@strongroom/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useOpenSession } from '../../session/session.ts'

// All records of a domain are set at once, so every change of one is made from the list that was read, and of no other.

export interface Zone {
  readonly serial: number
  readonly records: readonly DnsRecord[]
}

export type NewRecord = Input<typeof domains.setRecords>['body']['records'][number]
export type RecordType = NewRecord['type']

export const RECORD_TYPES = [
  'A',
  'AAAA',
  'CAA',
  'CNAME',
  'MX',
  'NS',
  'SRV',
  'TXT',
] as const satisfies readonly RecordType[]

const settable = (type: string): type is RecordType => RECORD_TYPES.some((known) => known === type)

/** As it is sent; undefined for what nobody sets, such as the SOA. */
export function newRecordOf({ name, type, content, ttl, priority, comment }: DnsRecord): NewRecord | undefined {
  if (!settable(type)) return undefined
  return {
    ...{ name, type, content, ttl },
    ...(priority !== null && { priority }),
    ...(comment !== null && { comment }),
  }
}

export const newRecordsOf = (records: readonly DnsRecord[]): NewRecord[] =>
  records.flatMap((record) => newRecordOf(record) ?? [])

export function useSetRecords(domain: string) {
  const { client } = useOpenSession()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async ({ ifSerial, records }: { readonly ifSerial: number; readonly records: readonly NewRecord[] }) =>
      client.domains.setRecords({ params: { domain }, body: { ifSerial, records: [...records] } }),
    // Also when it was refused: somebody else may have changed them.
    onSettled: () => queries.invalidateQueries({ queryKey: ['domains', domain] }),
  })
}
