import { flag } from '../model/command.ts'

/** Where the data of the server is; DATABASE_URL and the other settings of the server are understood as by the server. */
export const HOST = { data: flag.text('directory with all data', 'DIR', { completes: 'file' }) } as const
export const OUT = {
  out: flag.text('write it to a file, readable by you alone', 'FILE', { completes: 'file' }),
} as const
export const ORG = { org: flag.text('name or id of the organisation; needed where there are several', 'ORG') } as const
