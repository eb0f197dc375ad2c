// The table of providers in docs/providers.md, made from the catalogue of packages/transports. Used by generate.mjs.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { importSource } from './import-source.mjs'

const BEGIN = '<!-- providers: written by pnpm gen -->'
const END = '<!-- /providers -->'

/**
 * docs/providers.md with the table as it should be.
 * @returns {Promise<{ file: string, text: string, count: number } | null>} `null` where there is no catalogue or no place for the table
 */
export async function providerTable(root) {
  const [file, catalogue] = [join(root, 'docs/providers.md'), join(root, 'packages/transports/src/catalogue.ts')]
  if (!existsSync(file) || !existsSync(catalogue)) return null
  const page = readFileSync(file, 'utf8')
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (from < 0 || to < from) return null
  const { PROVIDERS, ABSENT_PROVIDERS = [] } = await importSource(catalogue)
  const text = `${page.slice(0, from)}${BEGIN}\n\n${render(PROVIDERS)}${renderAbsent(ABSENT_PROVIDERS)}\n${page.slice(to)}`
  return { file, text, count: PROVIDERS.length }
}

const WIRES = {
  'chat-completions': 'chat completions',
  'anthropic-messages': 'Anthropic messages',
  'bedrock-converse': 'Bedrock converse',
  responses: 'Responses',
}

function render(providers) {
  const rows = providers.map((provider) => [
    provider.name,
    [provider.id, ...provider.aliases].map(code).join(', '),
    keyOf(provider),
    [WIRES[provider.api], ...provider.modelApis.map(({ api, models }) => `${WIRES[api]} (${models.join(', ')})`)].join(
      ', ',
    ),
    provider.defaultModel ? code(provider.defaultModel) : '',
    provider.exercised ? 'yes' : '',
  ])
  const head = ['provider', 'names', 'key', 'wire', 'default model', 'tested']
  const line = (cells) => `| ${cells.join(' | ')} |\n`
  return line(head) + line(head.map(() => '---')) + rows.map(line).join('')
}

/** What is left out on purpose, and why. */
function renderAbsent(absent) {
  if (absent.length === 0) return ''
  const items = absent.map(({ names, reason }) => `- ${names.map(code).join(', ')}: ${reason}\n`)
  return `\nNot offered:\n\n${items.join('')}`
}

function keyOf({ auth, keyVariables, sharedKeyVariables, keyRequired }) {
  if (auth === 'oauth') return 'sign-in'
  const variables = [...keyVariables, ...sharedKeyVariables].map(code).join(', ')
  if (auth === 'aws') return `AWS credentials, or ${variables}`
  if (auth === 'none') return 'none'
  return keyRequired ? variables : `none, or ${variables}`
}

function code(text) {
  return `\`${text}\``
}
