import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { HermesError } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'

/** 64 MB and some tenths of a second for each guess. */
const COST = { N: 65_536, r: 8, p: 1, maxmem: 128 * 1024 * 1024 } as const

interface Sealed {
  readonly version: 1
  /** Base64, all of them. */
  readonly salt: string
  readonly nonce: string
  readonly tag: string
  readonly text: string
}

/** A file whose text only a passphrase gives back: AES-256-GCM, the key by scrypt. */
export class SealedFile {
  readonly path: string
  #latest: { readonly passphrase: string; readonly salt: Buffer; readonly key: Buffer } | null = null

  constructor(path: string) {
    this.path = path
  }

  /** `null` where there is none. @throws HermesError `vault.wrong_passphrase`, `vault.unreadable`. */
  async open(passphrase: string): Promise<string | null> {
    const sealed = await this.#read()
    if (sealed === null) return null
    const [salt, nonce, tag, text] = [sealed.salt, sealed.nonce, sealed.tag, sealed.text].map((one) =>
      Buffer.from(one, 'base64'),
    )
    const decipher = createDecipheriv('aes-256-gcm', await this.#key(passphrase, salt!), nonce!)
    decipher.setAuthTag(tag!)
    try {
      return Buffer.concat([decipher.update(text!), decipher.final()]).toString('utf8')
    } catch {
      throw new HermesError('This is not the passphrase of the vault.', { code: 'vault.wrong_passphrase' })
    }
  }

  async exists(): Promise<boolean> {
    return (await this.#read()) !== null
  }

  /** Replaces it whole. @throws HermesError `files.not_writable`. */
  async seal(text: string, passphrase: string): Promise<void> {
    const salt = this.#latest?.passphrase === passphrase ? this.#latest.salt : randomBytes(16)
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', await this.#key(passphrase, salt), nonce)
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    const file: Sealed = {
      version: 1,
      salt: salt.toString('base64'),
      nonce: nonce.toString('base64'),
      tag: cipher.getAuthTag().toString('base64'),
      text: sealed.toString('base64'),
    }
    await writePrivate(this.path, `${JSON.stringify(file, null, 2)}\n`)
  }

  /** A key is made once for a passphrase and a salt: that is what takes its time. */
  async #key(passphrase: string, salt: Buffer): Promise<Buffer> {
    const known = this.#latest
    if (known?.passphrase === passphrase && known.salt.equals(salt)) return known.key
    const key = await keyOf(passphrase, salt)
    this.#latest = { passphrase, salt, key }
    return key
  }

  async #read(): Promise<Sealed | null> {
    let text: string
    try {
      text = await readFile(this.path, 'utf8')
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw new HermesError(`${this.path} cannot be read.`, { code: 'vault.unreadable', cause })
    }
    try {
      const sealed = JSON.parse(text) as Sealed
      if (sealed.version === 1 && typeof sealed.text === 'string') return sealed
    } catch {}
    throw new HermesError(`${this.path} is no vault: put it aside, or restore it from a backup.`, {
      code: 'vault.unreadable',
    })
  }
}

function keyOf(passphrase: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFC'), salt, 32, COST, (error, key) => (error ? reject(error) : resolve(key)))
  })
}
