import { createHash } from 'node:crypto'
import type { BrowserSettings } from '../settings.js'
import type { CamofoxUser } from './camofox-pages.js'

/**
 * Whom the person named for Camofox, by variables and else by `browser.camofox`; with `managed_persistence` a user of this home. `null`: each session is
 * a user of its own. `home`: a folder that no other home has.
 */
export function camofoxUser(
  { camofox }: Pick<BrowserSettings, 'camofox'>,
  variables: Readonly<Record<string, string | undefined>>,
  home: string,
): CamofoxUser | null {
  const named = textOf(variables['CAMOFOX_USER_ID']) ?? camofox.user
  const name = named ?? (camofox.staysPersistent ? `hermes-${digestOf(home)}` : null)
  if (name === null) return null
  const takes = textOf(variables['CAMOFOX_ADOPT_EXISTING_TAB'])
  return {
    name,
    group: textOf(variables['CAMOFOX_SESSION_KEY']) ?? camofox.group,
    takesTabs: takes === null ? camofox.takesTabs : /^(?:1|true|yes|on)$/i.test(takes),
  }
}

const textOf = (value: string | undefined) => (value ?? '').trim() || null

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 10)
