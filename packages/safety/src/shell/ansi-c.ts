const SIMPLE: Readonly<Record<string, string>> = Object.freeze({
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
})

/** Decodes the escapes of `$'…'`, `echo -e` and `printf`: letters, octal, `\x`, `\u`, `\U`. */
export function decodeAnsiC(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|0?([0-7]{1,3})|([\s\S]))/g,
    (whole, hex, short, long, octal, letter) => {
      const code = hex ?? short ?? long
      if (code !== undefined) return fromCode(Number.parseInt(code, 16), whole)
      if (octal !== undefined) return fromCode(Number.parseInt(octal, 8), whole)
      return SIMPLE[letter as string] ?? letter
    },
  )
}

function fromCode(code: number, otherwise: string): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : otherwise
}
