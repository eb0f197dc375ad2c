// What is made of the keys of config.yaml, which packages/config/src/keys describes with zod. Used by generate.mjs.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { importSource } from './import-source.mjs'

const FOLDER = 'packages/config/src/keys'

/**
 * The files as they should be: the table that is read at every start, the schema for editors, the page for people.
 * @returns {Promise<{ file: string, text: string }[]>} none where there are no such keys
 */
export async function configFiles(root) {
  if (!existsSync(join(root, FOLDER))) return []
  const keys = await importSource(join(root, FOLDER, 'index.ts'))
  const { CONFIG, toField, toJsonSchema } = keys
  return [
    { file: 'packages/config/src/generated/schema.ts', text: renderTable(toField(CONFIG)) },
    { file: 'packages/config/generated/config.schema.json', text: `${JSON.stringify(toJsonSchema(CONFIG))}\n` },
    { file: 'docs/config.md', text: renderPage(keys) },
  ]
}

function renderTable({ fields, ...rest }) {
  const lines = Object.entries(fields).map(([key, field]) => `    ${key}: ${JSON.stringify(field)},\n`)
  return `// Written by \`pnpm gen\` from ${FOLDER}.
import type { Section } from '../field.js'

/** Every key that Hermes reads from \`config.yaml\`. */
export const SCHEMA: Section = {
  ...${JSON.stringify(rest)},
  fields: {
${lines.join('')}  },
}
`
}

function renderPage(keys) {
  const { top, sections } = rowsOf(keys)
  const blocks = sections.map(({ path, about, rows }) =>
    [`## ${path}`, about, ...(rows.length > 0 ? [tableOf(rows)] : [])].filter(Boolean).join('\n\n'),
  )
  return `<!-- Written by \`pnpm gen\` from ${FOLDER}. -->
# Every key of config.yaml

\`hermes config set KEY VALUE\` writes one, \`hermes config check\` finds what is wrong. Editors with a YAML language server complete and check
keys when the file begins with

\`\`\`yaml
# yaml-language-server: $schema=https://unpkg.com/@hermes/config/generated/config.schema.json
\`\`\`

What is left empty has its default. \`\${NAME}\` stands for a variable of the environment or of \`.env\`.

## Keys without a section

${tableOf(top)}

${blocks.join('\n\n')}
`
}

/** The keys of all sections, in their order: those that hold a value, and the maps they stand in. */
function rowsOf({ CONFIG, kindOf, expectedOf }) {
  const top = []
  const sections = []
  const visit = (schema, path, rows) => {
    const about = schema.description ?? ''
    const kind = kindOf(schema)
    const of = kind.type === 'record' ? kindOf(kind.of) : kind
    if (of.type !== 'section') return rows.push({ key: path.at(-1), about, ...valuesOf(kind, of, expectedOf) })
    const name = kind.type === 'record' ? [...path, 'NAME'] : path
    const own = { path: name.join('.'), about, rows: [] }
    sections.push(own)
    for (const [key, inner] of Object.entries(of.fields)) visit(inner, [...name, key], own.rows)
  }
  for (const [key, schema] of Object.entries(kindOf(CONFIG).fields)) visit(schema, [key], top)
  return { top, sections }
}

function valuesOf(kind, of, expectedOf) {
  const values = kind.type === 'record' ? `a map, each ${expectedOf(of)}` : expectedOf(of)
  const isInput = kind.type !== 'record' && of.default !== undefined && of.default !== ''
  return {
    values,
    value: isInput ? `\`${Array.isArray(of.default) ? `[${of.default.join(', ')}]` : of.default}\`` : '',
  }
}

function tableOf(rows) {
  const cell = (text) => text.replaceAll('|', '\\|')
  const lines = rows.map(
    ({ key, values, value, about }) => `| \`${key}\` | ${cell(values)} | ${cell(value)} | ${cell(about)} |`,
  )
  return ['| key | may be | default | |', '| --- | --- | --- | --- |', ...lines].join('\n')
}
