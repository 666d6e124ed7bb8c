// A text and the ways it could be written down.

/** Inside a longer text base64 depends on where it starts: the part that does not change is searched for each of the starts. */
const base64Forms = (bytes: Buffer): string[] => {
  const forms = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift, 0x20), bytes])
      .toString('base64')
      .slice(4, -4),
  )
  return [...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))]
}

const percent = (bytes: Buffer): string => [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')

/** Every character as an escape: whoever writes JSON for old readers writes so. */
const escaped = (text: string): string =>
  [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

export function formsOf(text: string): string[] {
  const bytes = Buffer.from(text)
  const hex = bytes.toString('hex')
  const all = [
    text,
    encodeURIComponent(text),
    inJson(text),
    inJson(inJson(text)),
    text.replaceAll('/', '\\/'),
    escaped(text),
    hex,
    hex.toUpperCase(),
    percent(bytes),
    percent(bytes).toUpperCase(),
    ...base64Forms(bytes),
  ]
  return [...new Set(all)]
}

/** The same as bytes, where what is searched is no text: also as UTF-16, in which an engine keeps some of its texts. */
export function byteFormsOf(text: string): Buffer[] {
  const utf16 = Buffer.from(text, 'utf16le')
  return [...formsOf(text).map((form) => Buffer.from(form)), utf16, Buffer.from(utf16).swap16()]
}
