// The list of a pack: JSON in a DSSE envelope with an Ed25519 signature, so that what is signed is bytes, and any tool can check them.
// @see https://github.com/secure-systems-lab/dsse/blob/master/protocol.md, version 1.0.2.
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { HermesError, isJsonObject } from '@hermes/contracts'
import { SKILL_NAME } from '../format/skill.js'
import { sha256 } from '../install/lock.js'

/** A skill of a list that others hand on. */
export interface ListedSkill {
  readonly name: string
  /** What gets it. */
  readonly from: string
  /** SHA-256 by path. */
  readonly files: Readonly<Record<string, string>>
}

/** Skills that go together. */
export interface PackList {
  readonly name: string
  /** Numbers with dots. */
  readonly version: string
  readonly skills: readonly ListedSkill[]
}

const TYPE = 'application/vnd.hermes.skill-pack+json'
const MAX_SKILLS = 50
const VERSION = /^\d{1,9}(?:\.\d{1,9}){0,3}$/
const KEY = /^ed25519:([\w-]{43})$/

/** How a version stands to another one: below 0 for older. */
export function compareVersions(one: string, other: string): number {
  const [left, right] = [one, other].map((version) => version.split('.').map(Number))
  const at = [0, 1, 2, 3].find((index) => (left![index] ?? 0) !== (right![index] ?? 0))
  return at === undefined ? 0 : (left![at] ?? 0) - (right![at] ?? 0)
}

/**
 * The list that an envelope holds, and the SHA-256 of what was signed.
 * @throws HermesError `skills.bad_pack` for one that `key` did not sign, that is damaged, or of another name.
 */
export function readPack(
  bytes: Uint8Array,
  { name, key }: { readonly name: string; readonly key: string },
): PackList & { readonly sha256: string } {
  const { type, payload, signatures } = envelopeIn(bytes, name)
  const x = KEY.exec(key)?.[1]
  if (x === undefined) throw badPack(name, `skills.packs.${name}.key in config.yaml is no ed25519:KEY`)
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  const signed = preAuthentication(type, payload)
  if (!signatures.some((signature) => verify(null, signed, publicKey, signature)))
    throw badPack(name, 'its list is not signed by the key that config.yaml names')
  const list = listIn(payload)
  if (list === null) throw badPack(name, 'its list names no skills as hermes skills packs create writes them')
  if (list.name !== name) throw badPack(name, `its list is of ${list.name}`)
  return { ...list, sha256: sha256(payload) }
}

/** A signed list. `privateKey`: PEM. @throws HermesError `skills.bad_pack` */
export function writePack(list: PackList, privateKey: string): { readonly text: string; readonly key: string } {
  const payload = Buffer.from(JSON.stringify(list))
  if (listIn(payload) === null)
    throw badPack(
      list.name,
      `a name has a to z, digits and dashes, a version numbers with dots, and there are 1 to ${MAX_SKILLS} skills`,
    )
  const secret = privateKeyIn(privateKey)
  if (secret?.asymmetricKeyType !== 'ed25519')
    throw badPack(list.name, 'its key is no Ed25519 one; to make one: openssl genpkey -algorithm ed25519 -out KEYFILE')
  const key = `ed25519:${createPublicKey(secret).export({ format: 'jwk' }).x}`
  const sig = sign(null, preAuthentication(TYPE, payload), secret).toString('base64')
  const envelope = { payloadType: TYPE, payload: payload.toString('base64'), signatures: [{ keyid: key, sig }] }
  return { text: JSON.stringify(envelope, null, 2), key }
}

function privateKeyIn(pem: string): KeyObject | null {
  try {
    return createPrivateKey(pem)
  } catch {
    return null
  }
}

/** What is signed in place of the payload alone, so that no other document can stand for it. */
const preAuthentication = (type: string, payload: Buffer) =>
  Buffer.concat([Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `), payload])

function envelopeIn(bytes: Uint8Array, name: string) {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'))
    if (isJsonObject(value) && value['payloadType'] === TYPE && typeof value['payload'] === 'string') {
      const all = Array.isArray(value['signatures']) ? value['signatures'].slice(0, 10) : []
      const signatures = all.flatMap((one) =>
        isJsonObject(one) && typeof one['sig'] === 'string' ? [Buffer.from(one['sig'], 'base64')] : [],
      )
      return { type: TYPE, payload: Buffer.from(value['payload'], 'base64'), signatures }
    }
  } catch {
    // Named below.
  }
  throw badPack(name, 'what is there is no signed list of skills')
}

function listIn(payload: Buffer): PackList | null {
  try {
    const value: unknown = JSON.parse(payload.toString('utf8'))
    if (!isJsonObject(value)) return null
    const { name, version, skills } = value
    if (typeof name !== 'string' || !SKILL_NAME.test(name)) return null
    if (typeof version !== 'string' || !VERSION.test(version)) return null
    if (!Array.isArray(skills) || skills.length === 0 || skills.length > MAX_SKILLS || !skills.every(isListed))
      return null
    return new Set(skills.map((one) => one.name)).size < skills.length ? null : { name, version, skills }
  } catch {
    return null
  }
}

/** Whether it is an entry of a list that others hand on. */
export function isListed(value: unknown): value is ListedSkill {
  if (!isJsonObject(value)) return false
  const { name, from, files } = value
  return (
    typeof name === 'string' &&
    SKILL_NAME.test(name) &&
    typeof from === 'string' &&
    isJsonObject(files) &&
    Object.values(files).every((digest) => typeof digest === 'string')
  )
}

/** Why a pack is not taken, on one line. */
export const badPack = (name: string, why: string): HermesError =>
  new HermesError(`The pack ${name.slice(0, 64)} is not taken: ${why}.`, { code: 'skills.bad_pack' })
