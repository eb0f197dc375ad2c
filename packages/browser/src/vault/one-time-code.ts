import { createHmac } from 'node:crypto'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const STEP_S = 30

/** Six digits for now, as RFC 6238 has them. `seed` is base32, as sites show it; `null` where it is not. */
export function oneTimeCode(seed: string, nowMs: number): string | null {
  const key = base32(seed)
  if (key === null) return null
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(nowMs / 1000 / STEP_S)))
  const digest = createHmac('sha1', key).update(counter).digest()
  const at = digest[digest.length - 1]! & 0xf
  return String((digest.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

function base32(text: string): Buffer | null {
  const letters = text.toUpperCase().replace(/[\s=-]/g, '')
  if (letters === '') return null
  const bytes: number[] = []
  let [bits, count] = [0, 0]
  for (const letter of letters) {
    const value = ALPHABET.indexOf(letter)
    if (value < 0) return null
    bits = ((bits << 5) | value) & 0xfff
    count += 5
    if (count < 8) continue
    count -= 8
    bytes.push((bits >> count) & 0xff)
  }
  return Buffer.from(bytes)
}
