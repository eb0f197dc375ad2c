// Skills of a home by the extension `io.modelcontextprotocol/skills`, and as plain resources for clients that do not know it.
// @see https://modelcontextprotocol.io/seps/2640-skills-extension
import { createHash } from 'node:crypto'
import type { SkillSource, SkillsExtension } from '@modelcontextprotocol/server/ext/skills'
import type { ServedHome, ServedSkill } from './served-home.js'

const BASE = 'skill://'
const PER_PAGE = 50
const TYPES: Readonly<Record<string, string>> = {
  md: 'text/markdown',
  json: 'application/json',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  html: 'text/html',
}

/** The extension for one server. Skills are read anew with each request. */
export async function skillsExtension(skills: ServedHome['skills']): Promise<SkillsExtension> {
  const { SkillsExtension: Extension } = await import('@modelcontextprotocol/server/ext/skills')
  return new Extension({ source: sourceOf(skills), baseUri: BASE, onWarning: () => undefined })
}

function sourceOf(skills: ServedHome['skills']): SkillSource {
  const read = async (uri: string) => {
    const [name = '', ...rest] = uri.slice(BASE.length).split('/').map(decoded)
    const skill = await skills.read(name)
    return skill && { skill, path: rest.join('/') }
  }
  const all = async (names: readonly string[]) =>
    (await Promise.all(names.map((name) => skills.read(name)))).filter((skill) => skill !== null)
  return {
    list: async ({ cursor }) => {
      const names = await skills.names()
      const from = cursor === undefined ? 0 : names.findIndex((name) => name > cursor)
      const page = from < 0 ? [] : names.slice(from, from + PER_PAGE)
      const isLast = from < 0 || from + PER_PAGE >= names.length
      return { skills: (await all(page)).map(entryOf), ...(isLast ? {} : { nextCursor: page.at(-1)! }) }
    },
    get: async (uri) => {
      const found = await read(uri)
      return found?.path === 'SKILL.md' ? entryOf(found.skill) : undefined
    },
    read: async (uri) => {
      const found = await read(uri)
      const file = found?.skill.files.find(({ path }) => path === found.path)
      return file && contentOf(file)
    },
    listResources: async () =>
      (await all(await skills.names())).map((skill) => ({
        uri: uriOf(skill, 'SKILL.md'),
        name: skill.name,
        description: skill.frontmatter.description,
        mimeType: TYPES['md']!,
      })),
  }
}

function entryOf(skill: ServedSkill) {
  return {
    uri: uriOf(skill, 'SKILL.md'),
    frontmatter: { ...skill.frontmatter },
    resources: skill.files.map(({ path, bytes }) => ({
      uri: uriOf(skill, path),
      digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
      size: bytes.length,
    })),
  }
}

function contentOf({ path, bytes }: ServedSkill['files'][number]) {
  const mimeType = TYPES[path.slice(path.lastIndexOf('.') + 1).toLowerCase()]
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return { text, mimeType: mimeType ?? 'text/plain' }
  } catch {
    return { bytes, mimeType: mimeType ?? 'application/octet-stream' }
  }
}

const uriOf = ({ name }: ServedSkill, path: string) =>
  `${BASE}${name}/${path.split('/').map(encodeURIComponent).join('/')}`

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
