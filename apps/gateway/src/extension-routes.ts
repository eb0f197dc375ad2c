// Routes of extensions: /extensions/NAME/…, looked up with each request, since parts come and go.
import type { Contribution } from '@hermes/agent-core'
import type { Runtime } from '@hermes/runtime'
import { ApiError } from './api-error.js'

/** Where routes of extensions begin. */
export const EXTENSION_ROUTES = '/extensions'

/** A route that a request is for. */
interface FoundRoute {
  readonly route: Contribution<'route'>['item']
  readonly parameters: Readonly<Record<string, string>>
}

/** Answers requests for extensions. */
export class ExtensionRoutes {
  readonly #extensions: Runtime['extensions']

  constructor({ extensions }: Pick<Runtime, 'extensions'>) {
    this.#extensions = extensions
  }

  /** Whether who has no key may ask too. */
  isOpen(request: Request): boolean {
    return this.#find(request)?.route.scope === 'open'
  }

  /** @throws ApiError 404 where no extension has such a route. */
  async answer(request: Request): Promise<Response> {
    const found = this.#find(request)
    if (!found) {
      const message = `There is no ${request.method} ${new URL(request.url).pathname}.`
      throw new ApiError(message, { status: 404, code: 'unknown_route' })
    }
    return found.route.handle(request, found.parameters)
  }

  /** By the path as it was sent: what asks for the key and what answers must find the same route. */
  #find({ method, url }: Request): FoundRoute | null {
    const path = new URL(url).pathname
    for (const { owner, item } of this.#extensions.list('route')) {
      const parameters = item.method === method ? match(`${EXTENSION_ROUTES}/${owner}${item.path}`, path) : null
      if (parameters) return { route: item, parameters }
    }
    return null
  }
}

/** What stands for the parts of `pattern` that begin with a colon; `null` where a path does not fit. */
function match(pattern: string, path: string): Readonly<Record<string, string>> | null {
  const [expected, parts] = [pattern.split('/'), path.split('/')]
  if (expected.length !== parts.length) return null
  const parameters: Record<string, string> = {}
  for (const [index, part] of expected.entries()) {
    const value = parts[index]!
    if (part.startsWith(':') && value !== '') parameters[part.slice(1)] = decoded(value)
    else if (part !== value) return null
  }
  return parameters
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
