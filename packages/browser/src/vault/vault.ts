import { HermesError } from '@hermes/contracts'
import { oneTimeCode } from './one-time-code.js'
import { SealedFile } from './sealed-file.js'

/** A login that the person saved. */
export interface Login {
  readonly name: string
  /** Where its values may go: `https://example.com`, and nowhere else. */
  readonly origin: string
  readonly user: string
  readonly password: string
  /** What codes are made of, base32 as sites show it. */
  readonly seed?: string
}

/** What may be told of a login. */
export type LoginInfo = Pick<Login, 'name' | 'origin' | 'user'> & { readonly hasCodes: boolean }

/** The logins of a person in one file that a passphrase opens. */
export interface Vault {
  exists(): Promise<boolean>
  /** Whether its passphrase is known in this process. */
  readonly isOpen: boolean
  /** Remembers the passphrase for this process; makes a vault where there is none. @throws HermesError `vault.wrong_passphrase`. */
  unlock(passphrase: string): Promise<void>
  /** Names, origins and users. @throws HermesError `vault.locked`. */
  list(): Promise<readonly LoginInfo[]>
  /** @throws HermesError `vault.locked`, `vault.unknown` with the names there are. */
  get(name: string): Promise<Login>
  /** Adds one, or replaces that of its name. @throws HermesError `vault.locked`, `vault.bad_login`. */
  put(login: Login): Promise<void>
  /** Whether there was one. @throws HermesError `vault.locked`. */
  remove(name: string): Promise<boolean>
}

/** A vault. Nothing is read before it is asked for. */
export function createVault(path: string): Vault {
  return new FileVault(new SealedFile(path))
}

/** The code that a site asks for now; `null` for a login without a seed. */
export function codeOf({ seed }: Login, nowMs: number): string | null {
  return seed === undefined ? null : oneTimeCode(seed, nowMs)
}

class FileVault implements Vault {
  readonly #file: SealedFile
  #passphrase: string | null = null
  #writing: Promise<unknown> = Promise.resolve()

  constructor(file: SealedFile) {
    this.#file = file
  }

  exists(): Promise<boolean> {
    return this.#file.exists()
  }

  get isOpen(): boolean {
    return this.#passphrase !== null
  }

  async unlock(passphrase: string): Promise<void> {
    if (passphrase === '')
      throw new HermesError('The passphrase of the vault is empty.', { code: 'vault.wrong_passphrase' })
    if ((await this.#file.open(passphrase)) === null) await this.#file.seal('[]', passphrase)
    this.#passphrase = passphrase
  }

  async list(): Promise<readonly LoginInfo[]> {
    const logins = await this.#logins()
    return logins.map(({ name, origin, user, seed }) => ({ name, origin, user, hasCodes: seed !== undefined }))
  }

  async get(name: string): Promise<Login> {
    const logins = await this.#logins()
    const login = logins.find((one) => one.name === name)
    if (login) return login
    const names = logins.map((one) => one.name).join(', ')
    throw new HermesError(`The vault has no login ${JSON.stringify(name)}${names === '' ? '' : `; it has ${names}`}.`, {
      code: 'vault.unknown',
    })
  }

  put(login: Login): Promise<void> {
    const { name, origin, password, seed } = login
    const mistake = !/^[\w.@-]{1,64}$/.test(name)
      ? 'its name is letters, digits and . _ - @'
      : !/^https?:$/.test(URL.canParse(origin) ? new URL(origin).protocol : '') || new URL(origin).origin !== origin
        ? 'its origin is written like https://example.com'
        : password === ''
          ? 'its password is empty'
          : seed !== undefined && oneTimeCode(seed, 0) === null
            ? 'what codes are made of is base32, letters and the digits 2 to 7'
            : null
    if (mistake !== null)
      return Promise.reject(new HermesError(`The login was not kept: ${mistake}.`, { code: 'vault.bad_login' }))
    return this.#change((logins) => [...logins.filter((one) => one.name !== name), login])
  }

  async remove(name: string): Promise<boolean> {
    let was = false
    await this.#change((logins) => {
      was = logins.some((one) => one.name === name)
      return logins.filter((one) => one.name !== name)
    })
    return was
  }

  #change(change: (logins: readonly Login[]) => readonly Login[]): Promise<void> {
    const work = this.#writing.then(async () => {
      const logins = change(await this.#logins())
      await this.#file.seal(JSON.stringify(logins), this.#passphrase!)
    })
    this.#writing = work.catch(() => undefined)
    return work
  }

  async #logins(): Promise<readonly Login[]> {
    if (this.#passphrase === null)
      throw new HermesError('The vault is locked: its passphrase has to be given first.', { code: 'vault.locked' })
    return JSON.parse((await this.#file.open(this.#passphrase)) ?? '[]') as readonly Login[]
  }
}
