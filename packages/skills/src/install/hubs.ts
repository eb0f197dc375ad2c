import { clawhub } from './clawhub.js'
import type { Hub } from './hub.js'
import { lobehub } from './lobehub.js'
import { skillsSh } from './skills-sh.js'

/** The hubs there are. Each has a file of its own. */
export const HUBS: readonly Hub[] = [clawhub, skillsSh, lobehub]
