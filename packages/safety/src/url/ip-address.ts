/** What kind of place an address is. */
export type AddressKind = 'public' | 'loopback' | 'private' | 'metadata' | 'reserved'

const METADATA_V4 = Object.freeze(['168.63.129.16', '100.100.100.200', '192.0.0.192'])

type Block = readonly [base: string, bits: number, kind: AddressKind]

const V4: readonly Block[] = Object.freeze([
  ['127.0.0.0', 8, 'loopback'],
  ['10.0.0.0', 8, 'private'],
  ['172.16.0.0', 12, 'private'],
  ['192.168.0.0', 16, 'private'],
  ['100.64.0.0', 10, 'private'],
  // Link-local: clouds answer there, under more than one address.
  ['169.254.0.0', 16, 'metadata'],
  ['0.0.0.0', 8, 'loopback'],
  ['192.0.0.0', 24, 'reserved'],
  ['192.0.2.0', 24, 'reserved'],
  ['198.18.0.0', 15, 'reserved'],
  ['198.51.100.0', 24, 'reserved'],
  ['203.0.113.0', 24, 'reserved'],
  ['224.0.0.0', 4, 'reserved'],
  ['240.0.0.0', 4, 'reserved'],
])

/** The kind of an IPv4 address in four decimal parts. */
export function ipv4Kind(address: string): AddressKind {
  if (METADATA_V4.includes(address)) return 'metadata'
  const value = toNumber(address)
  const block = V4.find(([base, bits]) => {
    const size = 2 ** (32 - bits)
    return Math.floor(value / size) === Math.floor(toNumber(base) / size)
  })
  return block?.[2] ?? 'public'
}

function toNumber(address: string): number {
  return address.split('.').reduce((total, part) => total * 256 + Number(part), 0)
}

/** Whether an address without brackets lies in one of `ranges`, each an address or `ADDRESS/BITS`. One that cannot be read holds nothing. */
export function isInRanges(address: string, ranges: readonly string[]): boolean {
  const at = toBits(address)
  return at !== null && ranges.map(parseRange).some((range) => range !== null && holds(range, at))
}

/** Whether a text is such a range. */
export function isRange(text: string): boolean {
  return parseRange(text) !== null
}

interface Range {
  readonly base: bigint
  readonly bits: number
}

/** An address in the 128 bits of IPv6, where IPv4 has its own corner; `null` for what is none. */
function toBits(address: string): bigint | null {
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(address))
    return address.split('.').every((part) => Number(part) < 256) ? MAPPED + BigInt(toNumber(address)) : null
  const groups = /^[\da-f:.]+$/i.test(address) && address.includes(':') ? ipv6Groups(address) : null
  if (!groups) return null
  const embedded = embeddedIpv4(groups)
  if (embedded !== null) return MAPPED + BigInt(toNumber(embedded))
  return groups.reduce((total, group) => (total << 16n) + BigInt(group), 0n)
}

const MAPPED = 0xffffn << 32n

function parseRange(text: string): Range | null {
  const [, address = '', length] = /^([^/\s]+)(?:\/(\d{1,3}))?$/.exec(text.trim()) ?? []
  const base = toBits(address)
  const isV4 = !address.includes(':')
  const bits = length === undefined ? 128 : Number(length) + (isV4 ? 96 : 0)
  return base === null || bits > 128 ? null : { base, bits }
}

function holds({ base, bits }: Range, at: bigint): boolean {
  const rest = BigInt(128 - bits)
  return base >> rest === at >> rest
}

/** The kind of an IPv6 address without brackets; addresses that carry an IPv4 one count as that. */
export function ipv6Kind(address: string): AddressKind {
  const groups = ipv6Groups(address)
  if (!groups) return 'reserved'
  const embedded = embeddedIpv4(groups)
  if (embedded !== null) return ipv4Kind(embedded)
  const [first = 0, second = 0] = groups
  if (groups.slice(0, 7).every((group) => group === 0)) return 'loopback'
  if (first === 0xfd00 && second === 0x0ec2 && groups[7] === 0x254) return 'metadata'
  if ((first & 0xfe00) === 0xfc00 || (first & 0xffc0) === 0xfe80 || (first & 0xffc0) === 0xfec0) return 'private'
  if ((first & 0xff00) === 0xff00 || first === 0 || (first === 0x2001 && second === 0x0db8)) return 'reserved'
  // Teredo, and what discards all it gets.
  if (first === 0x2001 && second === 0) return 'reserved'
  if (first === 0x0100 && groups.slice(1, 4).every((group) => group === 0)) return 'reserved'
  return 'public'
}

/** The eight groups of an IPv6 address without brackets; `null` for what is none. */
export function ipv6Groups(address: string): number[] | null {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(address)
  const value = dotted ? toNumber(dotted[2]!) : 0
  const text = dotted ? `${dotted[1]}${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}` : address
  const [head = '', tail] = text.split('%')[0]!.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const missing = 8 - left.length - right.length
  if (missing < 0 || (tail === undefined && missing !== 0)) return null
  const groups = [...left, ...Array<string>(missing).fill('0'), ...right].map((group) => Number.parseInt(group, 16))
  return groups.some(Number.isNaN) ? null : groups
}

/** IPv4-mapped, NAT64, 6to4 and IPv4-compatible addresses. */
function embeddedIpv4(groups: readonly number[]): string | null {
  const dotted = (high = 0, low = 0): string => [high >> 8, high & 255, low >> 8, low & 255].join('.')
  const leadingZeros = groups.findIndex((group) => group !== 0)
  if (leadingZeros === 5 && groups[5] === 0xffff) return dotted(groups[6], groups[7])
  if (leadingZeros === 4 && groups[4] === 0xffff) return dotted(groups[6], groups[7])
  if (leadingZeros === 6) return dotted(groups[6], groups[7])
  if (groups[0] === 0x64 && groups[1] === 0xff9b) return dotted(groups[6], groups[7])
  if (groups[0] === 0x2002) return dotted(groups[1], groups[2])
  return null
}
