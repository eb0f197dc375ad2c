const MAX_CHARS = 64

/** The name of a called tool in the form that servers read again: a model may have made one up that they refuse. */
export function wireToolName(name: string): string {
  return name.replace(/[^\w-]/g, '_').slice(0, MAX_CHARS) || '_'
}
