// skills.sh, by the two calls that its own client makes without a login (npm skills 1.7.4; github.com/vercel-labs/skills,
// src/find.ts and src/blob.ts); those of its documented API want one. What it says as `hash` is its own affair, so that it is kept to see whether it says the same again.
import { join } from 'node:path'
import { isJsonObject } from '@hermes/contracts'
import { SKILL_NAME } from '../format/skill.js'
import { type Hub, hubJson, lineOf, oddFiles, PER_PAGE, writeFiles } from './hub.js'

const SITE = 'https://skills.sh'
const FROM = /^(?:skills\.sh:|https:\/\/(?:www\.)?skills\.sh\/)([\w.-]{1,100})\/([\w.-]{1,100})\/([\w.-]{1,100})\/?$/
const HUB = 'skills.sh'

export const skillsSh: Hub = {
  name: 'skills.sh',

  async search(words, page, request) {
    // There are no pages: of a longer list the last part is the page.
    const query = new URLSearchParams({ q: words, limit: String(page * PER_PAGE) })
    const { skills } = await hubJson(HUB, `${SITE}/api/search?${query}`, request)
    if (!Array.isArray(skills)) throw new Error(`${HUB} gave no list`)
    const all = skills.flatMap((one) => {
      if (!isJsonObject(one) || typeof one['id'] !== 'string' || !FROM.test(`skills.sh:${one['id']}`)) return []
      const { id, name, source, installs } = one
      const liked = typeof installs === 'number' ? `${installs} installs` : ''
      return [{ from: `skills.sh:${id}`, about: `${lineOf(name)} of ${lineOf(source)}`, liked }]
    })
    const found = all.slice((page - 1) * PER_PAGE)
    return { found, total: all.length + (skills.length === page * PER_PAGE ? 1 : 0) }
  },

  has: (from) => from.startsWith('skills.sh:') || FROM.test(from),

  async get(from, stage, request) {
    const [, owner, repository, skill = ''] = FROM.exec(from) ?? []
    if (owner === undefined) throw new Error(`${from.slice(0, 100)} is no skills.sh:OWNER/REPOSITORY/SKILL`)
    const { files, hash } = await hubJson(HUB, `${SITE}/api/download/${owner}/${repository}/${skill}`, request)
    const texts = Array.isArray(files) ? files.filter(isJsonObject) : []
    const odd = oddFiles(texts.map(({ path }) => String(path)))
    if (odd !== null) throw new Error(odd)
    const bytes = texts.map(({ path, contents }) => {
      if (typeof contents !== 'string') throw new Error(`${HUB} sent nothing of ${path}`)
      return { path: String(path), bytes: Buffer.from(contents) }
    })
    const folder = join(stage, SKILL_NAME.test(skill) ? skill : 'skill')
    await writeFiles(folder, bytes)
    const pin = typeof hash === 'string' && /^[\w:+/=-]{8,200}$/.test(hash) ? hash : null
    return { skills: [{ folder, name: skill, from: `skills.sh:${owner}/${repository}/${skill}` }], pin }
  },
}
