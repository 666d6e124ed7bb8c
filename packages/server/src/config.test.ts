import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { describe, expect, it, vi } from 'vitest'
import { readConfig } from './config.ts'
import { unknownNames } from './config-names.ts'

// What an operator sets is taken as it was meant or refused with a next step. Catches: a number that is none, or that the database
// cannot give; an error of the language instead of ours, or the value of a header in it; an argument that is passed over. Seen red:
// the size of the pool without limits, parts of an amount not filled up, headers decoded without a net, unknown arguments passed over.

const refusal = (env: NodeJS.ProcessEnv, args: readonly string[] = []) =>
  expect.soft(() => readConfig(env, args), JSON.stringify([env, args]))

describe('the size of the pool', () => {
  it('is a number within what the database can give, and ten if nothing is said', () => {
    expect(readConfig({}, []).poolSize).toBe(10)
    expect(readConfig({ STRONGROOM_POOL_SIZE: '90' }, []).poolSize).toBe(90)
    expect(readConfig({ STRONGROOM_POOL_SIZE: '1000', DATABASE_URL: 'postgres://x' }, []).poolSize).toBe(1000)
  })

  it.each(['abc', '', '0', '1', '-3', '2.5', '1e2', '0x10', '91', '500'])('is refused as %j', (text) => {
    refusal({ STRONGROOM_POOL_SIZE: text }).toThrow(
      `STRONGROOM_POOL_SIZE ${JSON.stringify(text)} is not a number from 2 to 90`,
    )
  })

  it('has another limit for a database of the operator', () => {
    refusal({ STRONGROOM_POOL_SIZE: '1001', DATABASE_URL: 'postgres://x' }).toThrow('is not a number from 2 to 1000')
  })
})

describe('low credit', () => {
  it('is an amount in the currency of the credit, and ten if nothing is said', () => {
    const low = (text?: string) => readConfig(text === undefined ? {} : { STRONGROOM_LOW_BALANCE: text }, []).lowBalance
    expect([low(), low('2.50'), low('0'), low('0.000001')]).toEqual([10_000_000n, 2_500_000n, 0n, 1n])
  })

  it.each(['', '-1', '1,50', '$5', '1e3', '0.0000001', '.5'])('is refused as %j', (text) => {
    refusal({ STRONGROOM_LOW_BALANCE: text }).toThrow('is not an amount of USD')
  })
})

// Catches: a variable that was set to nothing (as compose files do) taken as a value, so that the server listens everywhere or works on
// whatever PostgreSQL runs at 127.0.0.1; a name that no request can have, without a word; a password in a refusal. Seen red: all of
// them taken as they are; the data below the folder the server was started in, with HOME set to nothing.
describe('places', () => {
  it('are those of nothing said, where a variable is set to nothing', () => {
    const names = ['STRONGROOM_HOST', 'STRONGROOM_DATA', 'DATABASE_URL', 'STRONGROOM_MIGRATION_URL', 'XDG_DATA_HOME']
    const nothing = [...names, 'STRONGROOM_HOSTS', 'OTEL_EXPORTER_OTLP_ENDPOINT'].map((name) => [name, ''])
    expect(readConfig(Object.fromEntries(nothing), [])).toEqual(readConfig({}, []))
    expect(readConfig({}, []).host).toBe('127.0.0.1')
    refusal({ STRONGROOM_POOL_SIZE: '91', DATABASE_URL: '' }).toThrow('from 2 to 90')
  })

  it('are below a home that is none of the directory this was started in', () => {
    // Root has its data elsewhere.
    vi.spyOn(process, 'getuid').mockReturnValue(1000)
    const data = (env: NodeJS.ProcessEnv): string => readConfig(env, []).dataDirectory
    expect(data({ HOME: '/home/ada' })).toBe('/home/ada/.local/share/strongroom')
    expect(data({ HOME: '' })).toBe(`${userInfo().homedir}/.local/share/strongroom`)
    refusal({ HOME: 'ada' }).toThrow('HOME "ada" is no absolute path')
    expect(data({ HOME: 'ada', STRONGROOM_DATA: '/srv/strongroom' })).toBe('/srv/strongroom')
    vi.restoreAllMocks()
  })

  it('are hosts as requests name them', () => {
    const { hosts } = readConfig({ STRONGROOM_HOSTS: 'Vault.example.com, vault_2:8443,10.1.0.5,[FD00::1]:8420,' }, [])
    expect(hosts).toEqual(['vault.example.com', 'vault_2:8443', '10.1.0.5', '[fd00::1]:8420'])
  })

  it.each([
    'https://vault.example.com',
    'vault.example.com/',
    'vault.example.com/api',
    '*.example.com',
    'a b',
    'münchen.de',
  ])('are no hosts as %j', (text) => {
    refusal({ STRONGROOM_HOSTS: `ok.example.com,${text}` }).toThrow(`${JSON.stringify(text)} is not the name of a host`)
  })

  it.each([
    'postgres://login:p@127.0.0.1:5432/x',
    'postgresql://login@db/x?sslmode=verify-full',
    'postgres://login:p@/x?host=%2Frun%2Fpostgresql&port=5432',
    'socket:/run/postgresql?db=x',
    '/run/postgresql x',
  ])('are databases as %j', (url) => {
    const { databaseUrl, migrationUrl } = readConfig({ DATABASE_URL: url, STRONGROOM_MIGRATION_URL: url }, [])
    expect([databaseUrl, migrationUrl]).toEqual([url, url])
  })

  it.each([
    'mysql://login:sesame@127.0.0.1/x',
    'host=127.0.0.1 user=login password=sesame',
    'postgres://login:sesame#1@127.0.0.1/x',
    'postgres://login:ses/ame@127.0.0.1/x',
    'postgres://login:sesame@127.0.0.1:port/x',
    '127.0.0.1:5432',
  ])('are no databases as %j, and nothing of it is repeated', (url) => {
    for (const name of ['DATABASE_URL', 'STRONGROOM_MIGRATION_URL'])
      expect(() => readConfig({ [name]: url }, [])).toThrow(
        expect.objectContaining({ code: 'config_invalid', message: `${name} is not the address of a PostgreSQL` }),
      )
  })

  it.each(['collector', 'collector:4318', '127.0.0.1:4318', 'http://'])('are no collector as %j', (url) => {
    refusal({ OTEL_EXPORTER_OTLP_ENDPOINT: url }).toThrow('is not the address of a collector')
  })
})

describe('headers for the collector', () => {
  it('are decoded', () => {
    const { otlpHeaders } = readConfig({ OTEL_EXPORTER_OTLP_HEADERS: 'a=1%2C2, b = c=d ' }, [])
    expect(otlpHeaders).toEqual({ a: '1,2', b: 'c=d' })
  })

  it('are refused by name if they cannot be, and their value is not repeated', () => {
    const env = { OTEL_EXPORTER_OTLP_HEADERS: 'a=1,authorization=secret%zz' }
    expect(() => readConfig(env, [])).toThrow(
      expect.objectContaining({
        code: 'config_invalid',
        message: 'OTEL_EXPORTER_OTLP_HEADERS: the value of "authorization" is not percent-encoded',
      }),
    )
  })

  it.each(['a=1,se same=secret', 'a=1,secret', 'a=1,=secret', 'a=1,b\u0000=secret'])(
    'are refused by number where a name is none, as %j, since it may be a part of a value',
    (text) => {
      expect(() => readConfig({ OTEL_EXPORTER_OTLP_HEADERS: text }, [])).toThrow(
        expect.objectContaining({
          code: 'config_invalid',
          message: 'OTEL_EXPORTER_OTLP_HEADERS: number 2 does not begin with the name of a header and =',
        }),
      )
    },
  )

  it('have no value that no header can have', () => {
    refusal({ OTEL_EXPORTER_OTLP_HEADERS: 'a=b%0Ac' }).toThrow('the value of "a" is none that a header can have')
  })
})

// Catches: a folder taken for a bucket, so that each request goes to another path than its signature; a region of nothing, which no
// store knows. Seen red: both taken as they are.
describe('the bucket', () => {
  const s3 = (more: NodeJS.ProcessEnv) => ({
    STRONGROOM_S3_ENDPOINT: 'https://s3.example.com',
    ...{ STRONGROOM_S3_ACCESS_KEY_ID: 'k', STRONGROOM_S3_SECRET_ACCESS_KEY: 's', ...more },
  })

  it.each(['my-bucket', 'My_bucket.2026', 'b'])('is a name, as %j', (bucket) => {
    const env = s3({ STRONGROOM_S3_BUCKET: bucket, STRONGROOM_S3_REGION: '' })
    expect(readConfig(env, []).s3).toMatchObject({ bucket, region: 'us-east-1' })
  })

  it.each(['a/b', '/a', 'a/', 'a b', '..', 'a?b', 'bücher', 's3://a'])('is none as %j', (bucket) => {
    refusal(s3({ STRONGROOM_S3_BUCKET: bucket })).toThrow(
      `STRONGROOM_S3_BUCKET ${JSON.stringify(bucket)} is not the name of a bucket`,
    )
  })
})

// Catches: a setting that is mistyped, or that is called otherwise elsewhere, passed over without a word; one that there is called none.
// Seen red: a name left out of the list.
describe('names of variables', () => {
  const namesIn = (text: string): readonly string[] => text.match(/\bSTRONGROOM_[A-Z0-9_]+(?<!_)/g) ?? []
  const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')

  it('are known, whoever reads them', () => {
    const sources = [
      './config.ts',
      './config-places.ts',
      './chain/chain-config.ts',
      '../../../docs/reference/configuration.md',
    ]
    const names = sources.flatMap((path) => namesIn(read(path)))
    expect(names.length).toBeGreaterThan(50)
    expect(unknownNames(Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual([])
  })

  it('are named where nothing reads them', () => {
    const env = {
      STRONGROOM_POORT: '1',
      STRONGROOM_DATABASE_URL: 'x',
      STRONGROOM_PORT: '2',
      DATABASE_URL: 'x',
      PATH: '/',
    }
    expect(unknownNames(env)).toEqual(['STRONGROOM_DATABASE_URL', 'STRONGROOM_POORT'])
  })
})

describe('arguments', () => {
  it.each([[['--port', '8515', '--host', '::1', '--data', '/d']], [['--port=8515', '--host=::1', '--data=/d']]])(
    'are read as %j',
    (args) => {
      const env = { STRONGROOM_PORT: '1', STRONGROOM_HOST: 'x', STRONGROOM_DATA: '/x' }
      expect(readConfig(env, args)).toMatchObject({ port: 8515, host: '::1', dataDirectory: '/d' })
    },
  )

  it.each(['--prot', '--prot=8515', '-p', '8515', '--', '', '--constructor=x'])(
    'are refused as %j, with those there are',
    (text) => {
      expect(() => readConfig({}, [text, '8515'])).toThrow(
        expect.objectContaining({
          code: 'config_invalid',
          message: `the argument ${JSON.stringify(text)} is unknown`,
          nextStep: 'use --host VALUE, --port VALUE, --data VALUE; everything else is set by variables',
        }),
      )
    },
  )

  it.each([[['--port']], [['--port=']], [['--data', '--port']], [['--port', '8515', '--data']]])(
    'need a value: %j',
    (args) => {
      refusal({}, args).toThrow('needs a value')
    },
  )
})
