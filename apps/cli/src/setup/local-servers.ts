import { type Endpoint, modelsAt } from './endpoint.js'

/** A model server that people run on their own machine, where it usually listens. */
interface LocalServer {
  readonly provider: string
  readonly name: string
  readonly baseUrl: string
}

/** An endpoint that answered with its models. */
export interface FoundServer extends Endpoint {
  readonly models: readonly string[]
}

/** The usual ports on loopback. */
export const LOCAL_SERVERS: readonly LocalServer[] = [
  { provider: 'ollama', name: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1' },
  { provider: 'lmstudio', name: 'LM Studio', baseUrl: 'http://127.0.0.1:1234/v1' },
  { provider: 'custom', name: 'llama.cpp', baseUrl: 'http://127.0.0.1:8080/v1' },
  { provider: 'custom', name: 'vLLM', baseUrl: 'http://127.0.0.1:8000/v1' },
]

const TIMEOUT_MS = 800

/** Which of the servers run here: those that list their models within 0.8 seconds. */
export async function findLocalServers(servers: readonly LocalServer[]): Promise<readonly FoundServer[]> {
  const requested = servers.map(async (server): Promise<readonly FoundServer[]> => {
    const models = await modelsAt({ ...server, apiKey: null }, { env: {}, timeoutMs: TIMEOUT_MS })
    return models === null ? [] : [{ ...server, apiKey: null, keyEnv: null, isNewKey: false, models }]
  })
  return (await Promise.all(requested)).flat()
}
