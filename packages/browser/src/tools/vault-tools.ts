import { HermesError } from '@hermes/contracts'
import type { Tool, ToolContext } from '@hermes/contracts/tool'
import type { BrowserOptions } from '../browser-options.js'
import type { BrowserSession } from '../session/browser-session.js'
import type { BrowserSessions } from '../session/sessions.js'
import type { Tab } from '../session/tab.js'
import { codeOf, type Login, type Vault } from '../vault/vault.js'
import { acting } from './act-tools.js'
import { browserTool } from './browser-tool.js'

/** What the tools of the vault work with. */
interface VaultPorts extends Pick<BrowserOptions, 'vaultPassphrase' | 'conceal' | 'clock'> {
  readonly vault: Vault
}

/** Where one value of a login goes. */
interface Filling {
  readonly ref: string
  readonly value: string
  readonly isPassword: boolean
}

const NAME = { type: 'string', description: 'of the login, as browser_vault_list has it' } as const
const REF = { type: 'string', description: 'such as e12' } as const

/** Logins of the person: the model names one, and its values go from the vault into fields of the site it was saved for. */
export function vaultTools(sessions: BrowserSessions, ports: VaultPorts): readonly Tool[] {
  const { vault, clock } = ports
  return [
    browserTool<object>(sessions, {
      name: 'browser_vault_list',
      description: "List the person's saved logins: names, sites and users; passwords are never shown.",
      looks: true,
      despiteDialog: true,
      async act(_args, session, { call }) {
        if (!(await vault.exists())) return 'The person has no vault. They make one with: hermes vault add NAME'
        await unlock(session, call, ports)
        const lines = (await vault.list()).map(
          ({ name, origin, user, hasCodes }) => `${name}: ${user} at ${origin}${hasCodes ? ' (makes codes)' : ''}`,
        )
        return lines.length === 0 ? 'The vault is empty.' : lines.join('\n')
      },
    }),
    browserTool<{ readonly name: string; readonly password_ref?: string; readonly user_ref?: string }>(sessions, {
      name: 'browser_vault_fill',
      description: 'Fill a saved login into the fields of its own site. You never see the password.',
      properties: { name: NAME, user_ref: REF, password_ref: REF },
      required: ['name'],
      act: ({ name, password_ref: password, user_ref: user }, session, { signal, call }) =>
        acting(session, signal, async (tab) => {
          if (password === undefined && user === undefined)
            throw new HermesError('Say which fields: user_ref, password_ref or both.', { code: 'vault.bad_login' })
          const login = await loginOf(name, session, call, ports)
          return fill(login, { tab, session, call }, [
            ...(user === undefined ? [] : [{ ref: user, value: login.user, isPassword: false }]),
            ...(password === undefined ? [] : [{ ref: password, value: login.password, isPassword: true }]),
          ])
        }),
    }),
    browserTool<{ readonly name: string; readonly ref: string }>(sessions, {
      name: 'browser_vault_enter_code',
      description:
        'Fill the one-time code of a saved login into its field; the person is asked where the vault makes none.',
      properties: { name: NAME, ref: REF },
      required: ['name', 'ref'],
      act: ({ name, ref }, session, { signal, call }) =>
        acting(session, signal, async (tab) => {
          const login = await loginOf(name, session, call, ports)
          const value =
            codeOf(login, clock.now()) ?? (await ask(session, call, `The code that ${login.origin} asks for`))
          session.conceal(value)
          return fill(login, { tab, session, call }, [{ ref, value, isPassword: false }])
        }),
    }),
    browserTool<{ readonly name: string; readonly user: string }>(sessions, {
      name: 'browser_vault_save_login',
      description: 'Have the person save a login for the site that is open; they type the password, you never see it.',
      properties: { name: { type: 'string' }, user: { type: 'string' } },
      required: ['name', 'user'],
      async act({ name, user }, session, { call }) {
        const tab = await session.page()
        const { origin, protocol } = new URL(tab.page.url())
        // Both stand in the question to the person, who is to see which site it is.
        if (!/^https?:$/.test(protocol) || !/^[^\s"]{1,100}$/.test(user) || !/^[\w.-]{1,40}$/.test(name))
          throw new HermesError(
            'A login is saved for an open site (http or https), with a user of at most 100 characters without spaces, and a name of letters, digits, dots and dashes.',
            { code: 'vault.bad_login' },
          )
        await unlock(session, call, ports)
        if ((await vault.list()).some((one) => one.name === name))
          throw new HermesError(`There is a login ${name}. The person removes it with: hermes vault remove ${name}`, {
            code: 'vault.bad_login',
          })
        const password = await ask(
          session,
          call,
          `The password for the site ${origin} (user "${user}"), to keep in your vault as "${name}"`,
        )
        session.conceal(password)
        ports.conceal(password)
        await vault.put({ name, origin, user, password })
        return `Kept as ${name}.`
      },
    }),
  ]
}

async function loginOf(name: string, session: BrowserSession, call: ToolContext, ports: VaultPorts): Promise<Login> {
  await unlock(session, call, ports)
  const login = await ports.vault.get(name)
  for (const secret of [login.password, ...(login.seed === undefined ? [] : [login.seed])]) {
    session.conceal(secret)
    ports.conceal(secret)
  }
  return login
}

/** The passphrase is known, configured, or typed by the person where nobody sees it. */
async function unlock(session: BrowserSession, call: ToolContext, { vault, vaultPassphrase, conceal }: VaultPorts) {
  if (vault.isOpen) return
  const passphrase = vaultPassphrase ?? (await ask(session, call, 'The passphrase of your vault of logins'))
  conceal(passphrase)
  session.conceal(passphrase)
  await vault.unlock(passphrase)
}

async function ask(session: BrowserSession, call: ToolContext, question: string): Promise<string> {
  const answer = await session.asking(() => call.ask({ question, choices: [], allowFreeText: true, isSecret: true }))
  if (answer.type === 'answered' && answer.text !== '') return answer.text
  const why = answer.type === 'unanswered' ? answer.reason : 'the answer is empty'
  throw new HermesError(`${question} was not given: ${why}.`, { code: 'vault.locked' })
}

/** Asks once text from outside was read, then fills; each field is looked at in the same step in which it is filled. */
async function fill(
  { name, origin }: Login,
  { tab, session, call }: { readonly tab: Tab; readonly session: BrowserSession; readonly call: ToolContext },
  fillings: readonly Filling[],
): Promise<string> {
  if (!tab.zone.isHere)
    throw new HermesError(
      'This page is open in a browser elsewhere, whose owner would read the login: nothing was filled in.',
      {
        code: 'vault.not_here',
      },
    )
  for (const { ref } of fillings) {
    const place = await tab.originOf(ref)
    if (place !== origin) throw elsewhere(name, origin, place)
  }
  const send = { type: 'send', target: `browser-vault:${name}@${origin}`, chosen: 'acts' } as const
  const permit = await session.asking(() => call.permit(send))
  permit.consume(send)
  session.gate.agreed(origin)
  for (const { ref, value, isPassword } of fillings) {
    await session.gate.speech.give(tab, value)
    const filled = await tab.onElement(ref, 'fill', { origin, value, isPassword })
    if (filled.type === 'elsewhere') throw elsewhere(name, origin, filled.origin)
    if (filled.type !== 'filled')
      throw new HermesError(
        `${ref} (${tab.describe(ref)}) is no field for ${isPassword ? 'a password' : 'it'}: nothing was filled in.`,
        { code: 'vault.not_filled' },
      )
  }
  return `Filled ${name} into ${fillings.map(({ ref }) => tab.describe(ref)).join(' and ')}.`
}

function elsewhere(name: string, origin: string, place: string): HermesError {
  return new HermesError(`${name} was saved for ${origin}, and this field is of ${place}: nothing was filled in.`, {
    code: 'vault.elsewhere',
  })
}
