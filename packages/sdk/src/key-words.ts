// A key id in words that people can tell apart at a glance, the same everywhere: `marble-otter-lantern-31`. They say 30 of its 160
// bits, and whoever wants to can make another key with the same words: before something is signed, the whole fingerprint is compared.

const WORDS = (
  'acorn adobe agate alder alpine amber anchor angle apple apron arbor arrow aspen atlas attic autumn ' +
  'badge bagel bamboo banjo barley barrel basil basket beacon beaver bench berry birch bishop bison bobbin ' +
  'bonnet border bottle branch breeze brick bridge bronze brook bucket buckle butter button cabin cactus camel ' +
  'canal candle canoe canyon carbon carpet carrot castle cedar cellar chalk cherry chisel cider cinder circle ' +
  'citrus clover cobalt cocoa coffee comet copper coral cotton cradle crane crater cricket crystal cypress daisy ' +
  'dagger dancer desert diamond dinner dolphin donkey dragon drum dune eagle easel echo elbow elm ember ' +
  'emerald engine fabric falcon feather fennel fern ferry fiddle field finch flint flute forest fossil fountain ' +
  'fox garden garlic garnet gazelle ginger glacier glider goblet granite grape gravel guitar hammer harbor harvest ' +
  'hazel heron hickory hollow honey hornet iris island ivory jacket jade jasmine jersey jewel juniper kettle ' +
  'kitten ladder lagoon lantern lattice laurel lemon lentil lilac linen lizard locket lotus lumber magnet magpie ' +
  'mango maple marble marigold market meadow melon mercury mirror mitten monsoon mortar moss mulberry mustard napkin ' +
  'nectar needle nickel nutmeg oasis ocean olive onyx opal orange orchard orchid otter oyster paddle palette ' +
  'panda pantry paper parsley pebble pelican pencil pepper pigeon pillow pine planet plum pocket pollen poplar ' +
  'prairie puffin pumpkin quartz quill rabbit radish raven reef ribbon river robin rocket saddle saffron sage ' +
  'salmon sandal sapphire satin scarf shelter shovel silver sparrow spruce squash stable stone summit sunset teapot ' +
  'temple thistle thunder timber tulip tunnel turtle umber valley velvet violet walnut willow window winter zephyr '
)
  .trim()
  .split(' ')

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'
const DIGITS = 7

/** `keyId` is `user:…:…` or `agent:…:…`; the words are of its last part, the fingerprint. */
export function keyWords(keyId: string): string {
  const fingerprint = keyId.slice(keyId.lastIndexOf(':') + 1)
  const values = [...fingerprint.slice(0, DIGITS)].map((digit) => BASE32.indexOf(digit))
  if (values.length < DIGITS || values.includes(-1)) throw new TypeError('this is no key id')
  const bits = values.map((value) => value.toString(2).padStart(5, '0')).join('')
  const numberAt = (from: number, length: number): number => Number.parseInt(bits.slice(from, from + length), 2)
  const words = [0, 8, 16].map((from) => WORDS[numberAt(from, 8)])
  return [...words, String(numberAt(24, 11) % 100).padStart(2, '0')].join('-')
}
