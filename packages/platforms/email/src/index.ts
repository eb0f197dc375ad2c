export { createEmail, type EmailOptions } from './email.js'
export type { Keeper } from './inbox.js'
