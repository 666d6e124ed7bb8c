// Names come from other people and from a server that may lie: on a terminal they must not be able to move the cursor.

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** One line without anything a terminal would obey. */
export const safeText = (text: string): string =>
  text.replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
