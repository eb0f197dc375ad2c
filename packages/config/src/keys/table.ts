import type * as z from 'zod'
import type { Field } from '../field.js'
import { kindOf } from './kinds.js'

/** What a schema of these keys becomes in the table that is read at every start. Throws for a schema that no kind was made for. */
export function toField(schema: z.ZodType): Field {
  const kind = kindOf(schema)
  if (!kind) throw new Error('A key is made by one of the functions in kinds.ts.')
  if (kind.type === 'record') return { type: 'record', of: toField(kind.of) }
  if (kind.type !== 'section') return kind
  const fields = Object.entries(kind.fields).map(([key, inner]) => [key, toField(inner)] as const)
  return { ...kind, fields: Object.fromEntries(fields) }
}
