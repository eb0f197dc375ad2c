import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Extension } from '@hermes/contracts/extension'
import type { MemoryProvider } from '@hermes/contracts/memory'

/** Remembers texts in one file; finds those that share a word with a question. */
export function openMemory(file: string): MemoryProvider {
  const read = (): string[] => {
    try {
      return JSON.parse(readFileSync(file, 'utf8'))
    } catch {
      return []
    }
  }
  const words = (text: string) => new Set(text.toLowerCase().match(/\w{4,}/g) ?? [])
  const store = async (text: string) => writeFileSync(file, JSON.stringify([...read(), text]))
  return {
    name: 'shelf',
    recall: async (query, { limit }) => {
      const wanted = words(query)
      const found = read().filter((text) => [...words(text)].some((word) => wanted.has(word)))
      return found.slice(-limit).map((text) => ({ id: text, text }))
    },
    keep: ({ user }) => store(user),
    store,
    forget: async (id) => {
      const texts = read()
      writeFileSync(file, JSON.stringify(texts.filter((text) => text !== id)))
      return texts.includes(id)
    },
    check: async () => undefined,
    close: async () => undefined,
  }
}

const extension: Extension = {
  name: 'shelf',
  setup(api) {
    // config.yaml chooses it: memory: { provider: shelf }
    const { PLUGIN_DATA = '.' } = process.env
    api.factories.add('memory', 'shelf', () => openMemory(join(PLUGIN_DATA, 'memory.json')))
  },
}
export default extension
