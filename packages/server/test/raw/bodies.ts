import { post, type RawCase, refused, VALID } from './case.ts'

// JSON as it should not be. Whatever is read in two ways by two parsers is refused, as is what would take long.

const json = (name: string, body: string): RawCase => refused(name, post(body), 400, 'invalid_json')
const shape = (name: string, body: string): RawCase => refused(name, post(body), 400, 'validation_failed')
const agent = (members: string): string => `{"name":"raw","permissions":[]${members}}`
const nested = (depth: number): string => `{"name":${'['.repeat(depth)}${']'.repeat(depth)}}`
const strings = (count: number): string => `[${Array.from({ length: count }, () => '""').join(',')}]`
/** What a number must be written as to be a trap, in a place where a number is no surprise. */
const number = (literal: string): string => agent(`,"description":${literal}`)

const texts: readonly RawCase[] = [
  json('an empty body that is announced', post('').replace('Content-Length: 0', 'Content-Length: 1') && ' '),
  json('nothing but spaces', '   '),
  json('a byte order mark', `\xef\xbb\xbf${VALID}`),
  json('UTF-16', [...VALID].map((char) => `${char}\0`).join('')),
  json('UTF-16 with its mark', `\xff\xfe${[...VALID].map((char) => `${char}\0`).join('')}`),
  json('invalid UTF-8', agent(',"description":"\xff"')),
  json('overlong UTF-8', agent(',"description":"\xc0\xaf"')),
  json('half a character', agent(',"description":"\xc3"')),
  json('a surrogate in UTF-8', agent(',"description":"\xed\xa0\x80"')),
  json('beyond Unicode', agent(',"description":"\xf5\x80\x80\x80"')),
  json('a lone high surrogate', agent(',"description":"\\ud800"')),
  json('a lone low surrogate', agent(',"description":"\\udc00"')),
  json('surrogates in the wrong order', agent(',"description":"\\udc00\\ud800"')),
  json('a lone surrogate in a key', agent(',"\\ud800":1')),
  json('a raw NUL', agent(',"description":"a\0b"')),
  json('a raw newline in a string', agent(',"description":"a\nb"')),
  json('a raw tab in a string', agent(',"description":"a\tb"')),
  shape('an escaped NUL', agent(',"description":"a\\u0000b"')),
  shape('an escaped control character in a name', '{"name":"a\\u001bb","permissions":[]}'),
  shape('a newline in a name', '{"name":"a\\nb","permissions":[]}'),
  shape('DEL in a name', '{"name":"a\\u007fb","permissions":[]}'),
  json('an unknown escape', agent(',"description":"\\x41"')),
  json('half an escape', agent(',"description":"\\u00"')),
  json('a string without an end', '{"name":"raw'),
  json('a string that ends in a backslash', '{"name":"raw\\'),
]

const grammar: readonly RawCase[] = [
  json('a brace too few', VALID.slice(0, -1)),
  json('a brace too many', `${VALID}}`),
  json('two values', `${VALID}${VALID}`),
  json('two values on two lines', `${VALID}\n${VALID}`),
  json('a word after the value', `${VALID}x`),
  json('a NUL after the value', `${VALID}\0`),
  json('a comma at the end', '{"name":"raw","permissions":[],}'),
  json('a comma at the end of a list', '{"name":"raw","permissions":[,]}'),
  json('single quotes', "{'name':'raw','permissions':[]}"),
  json('keys without quotes', '{name:"raw",permissions:[]}'),
  json('a comment', `/* x */${VALID}`),
  json('a comment to the end of the line', `// x\n${VALID}`),
  json('brackets that do not match', '{"name":"raw","permissions":[}]'),
  json('NaN', number('NaN')),
  json('Infinity', number('Infinity')),
  json('undefined', number('undefined')),
  json('a hexadecimal number', number('0x10')),
  json('a number with a leading zero', number('01')),
  json('a number with a plus', number('+1')),
  json('a number without a digit before the point', number('.5')),
  json('a number without a digit after the point', number('1.')),
  json('a function', number('function(){}')),
  json('a guard against hijacking', `)]}',\n${VALID}`),
  json('a form', 'name=raw&permissions=[]'),
  json('XML', '<agent><name>raw</name></agent>'),
  json('YAML', 'name: raw'),
]

const numbers: readonly RawCase[] = [
  json('a number that is infinite', number('1e400')),
  json('a number that is infinite below zero', number('-1e400')),
  json('a number that is read as another', number('9007199254740993')),
  json('a number of 400 digits', number('9'.repeat(400))),
  json('minus zero', number('-0')),
  json('minus zero in another spelling', number('-0.0e1')),
  shape('a number where a text is due', number('1')),
  shape('a boolean where a text is due', number('true')),
  shape('null where a text is due', number('null')),
  shape('a list where a text is due', number('["a"]')),
  shape('an object where a text is due', number('{"a":"b"}')),
]

const keys: readonly RawCase[] = [
  json('a key twice', '{"name":"raw","name":"other","permissions":[]}'),
  json('a key twice, once escaped', '{"name":"raw","n\\u0061me":"other","permissions":[]}'),
  json('a key twice, deeper', agent(',"tenantRoles":[{"role":"a","role":"b"}]')),
  json('__proto__', agent(',"__proto__":{"admin":true}')),
  json('__proto__, escaped', agent(',"__pr\\u006fto__":{"admin":true}')),
  json('__proto__, deeper', agent(',"tenantRoles":[{"__proto__":{}}]')),
  json('constructor', agent(',"constructor":{"prototype":{"admin":true}}')),
  json('prototype', agent(',"prototype":{}')),
  ...[
    'orgId',
    'domainTenantId',
    'createdBy',
    'role',
    'status',
    'archivedAt',
    'apiKey',
    'accessKey',
    'agentId',
    'admin',
    '',
    ' ',
    'Name',
  ].map((key) =>
    shape(`a member that is not the caller's: ${JSON.stringify(key)}`, agent(`,${JSON.stringify(key)}:"x"`)),
  ),
]

const sizes: readonly RawCase[] = [
  json('33 levels', nested(32)),
  shape('32 levels', nested(31)),
  json('10,000 levels', nested(10_000)),
  json('30,000 brackets that never close', '['.repeat(30_000)),
  refused('1,000,000 levels', post(nested(1_000_000)), 413, 'payload_too_large', { closes: true }),
  json('10,000 objects in each other', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`),
  json('20,001 strings', strings(20_001)),
  shape('1,001 strings', strings(1001)),
  shape('5,000 keys', `{${Array.from({ length: 5000 }, (_, i) => `"k${i}":1`).join(',')}}`),
  shape('1,001 permissions', `{"name":"raw","permissions":${strings(1001)}}`),
  shape('a name of 201 characters', `{"name":"${'x'.repeat(201)}","permissions":[]}`),
  shape('a name of 60 kB', `{"name":"${'x'.repeat(60_000)}","permissions":[]}`),
  shape('a description of 60 kB', agent(`,"description":"${'x'.repeat(60_000)}"`)),
  refused('a name of 1 MB', post(`{"name":"${'x'.repeat(1_000_000)}","permissions":[]}`), 413, 'payload_too_large', {
    closes: true,
  }),
  ...['null', 'true', '1', '"name"', '[]', '{}', `[${VALID}]`].map((body) =>
    shape(`the whole body is ${body.slice(0, 10)}`, body),
  ),
]

export const bodies: readonly RawCase[] = [...texts, ...grammar, ...numbers, ...keys, ...sizes]
