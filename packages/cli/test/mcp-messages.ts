// What a client could send by mistake or on purpose, none of which may end the server or make it wait.

const INVALID = -32600
/** Lines, and the code of JSON-RPC that answers them. */
export const MESSAGES: readonly (readonly [what: string, message: string | Uint8Array, code: number])[] = [
  ['no JSON', '{"jsonrpc":', -32700],
  ['no UTF-8', new Uint8Array([0x22, 0xff, 0xfe, 0x22]), -32700],
  ['a batch', '[{"jsonrpc":"2.0","id":"b","method":"ping"}]', INVALID],
  ['a number', '7', INVALID],
  ['another version of JSON-RPC', '{"jsonrpc":"1.0","id":"v","method":"ping"}', INVALID],
  ['an id that is none', '{"jsonrpc":"2.0","id":{},"method":"ping"}', INVALID],
  ['no method', '{"jsonrpc":"2.0","id":"m"}', INVALID],
  ['params that are none', '{"jsonrpc":"2.0","id":"p","method":"ping","params":7}', -32602],
  ['an unknown method', '{"jsonrpc":"2.0","id":"u","method":"secrets/read"}', -32601],
  ['a method of objects', '{"jsonrpc":"2.0","id":"o","method":"__proto__"}', -32601],
  ['an unknown tool', '{"jsonrpc":"2.0","id":"t","method":"tools/call","params":{"name":"read_secret"}}', -32602],
  ['no tool', '{"jsonrpc":"2.0","id":"n","method":"tools/call"}', -32602],
  ['a cursor', '{"jsonrpc":"2.0","id":"c","method":"tools/list","params":{"cursor":"x"}}', -32602],
  ['too deep a nest', `${'['.repeat(100_000)}`, INVALID],
  [
    'a nest in params',
    `{"jsonrpc":"2.0","id":"d","method":"ping","params":${'{"a":'.repeat(70)}1${'}'.repeat(71)}`,
    INVALID,
  ],
  ['too long a line', `{"jsonrpc":"2.0","id":"l","method":"${'x'.repeat(1_100_000)}"}`, INVALID],
]

/** Arguments that no tool takes, or names that could be names. */
export const HOSTILE: readonly unknown[] = [
  [],
  'text',
  { value: true },
  { __proto__: null, constructor: { prototype: {} } },
  ...['task', 'ref', 'text', 'vault', 'license', 'summary', 'purchaseId'].flatMap((member) =>
    [
      7,
      null,
      ['x'],
      { $ne: 1 },
      '',
      '../../etc/passwd',
      'sr://prod/app/PLAIN_KEY?reveal=1',
      '\u0000',
      'x'.repeat(20_000),
    ].map((value) => ({ [member]: value })),
  ),
]
