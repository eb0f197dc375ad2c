const IMAGE = /^(?:~?\/)[^\n"]+\.(?:png|jpe?g|gif|webp)$/i

/** Pasted text; the path of an image, which is what a terminal pastes when one is dropped on it, as a reference that attaches the image. */
export function nameDropped(pasted: string): string {
  const path = droppedImage(pasted)
  return path === null ? pasted : `@file:"${path}" `
}

/** The path of an image that pasted text is; `null` for any other. */
export function droppedImage(pasted: string): string | null {
  const path = toPath(pasted.trim())
  return IMAGE.test(path) ? path : null
}

/** Terminals quote paths, or escape them, or give an address. */
function toPath(text: string): string {
  if (text.startsWith('file:///')) {
    try {
      return decodeURIComponent(text.slice('file://'.length))
    } catch {
      return text
    }
  }
  const quoted = /^'([^']*)'$|^"([^"]*)"$/.exec(text)
  return quoted ? (quoted[1] ?? quoted[2]!) : text.replace(/\\(.)/g, '$1')
}
