export { expectedOf } from '../check-field.js'
export { CONFIG } from './config.js'
export { toJsonSchema } from './json-schema.js'
export { kindOf, toField } from './kinds.js'
