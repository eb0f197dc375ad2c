import { randomBytes } from 'node:crypto'

/** `YYYYMMDD_HHMMSS_` in local time and random hex digits: six in a terminal, eight in a gateway. */
export function createSessionId(atMs: number, hexDigits: 6 | 8 = 6): string {
  const date = new Date(atMs)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${date.getFullYear()}${two(date.getMonth() + 1)}${two(date.getDate())}`
  const time = `${two(date.getHours())}${two(date.getMinutes())}${two(date.getSeconds())}`
  return `${day}_${time}_${randomBytes(hexDigits / 2).toString('hex')}`
}
