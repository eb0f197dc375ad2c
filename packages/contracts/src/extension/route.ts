/** A route of the gateway. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/extensions/NAME`, with a slash first; `:id` stands for one part of a path. */
  readonly path: string
  /**
   * Who may ask. `api`: who may use the API. `open`: programs without its key too; the handler itself checks who asks, as for the signed
   * requests of other services. A gateway without a key answers programs of its machine only, whatever this says.
   */
  readonly scope: 'api' | 'open'
  /** Rejects for a failure, which is logged and answered 500. Bodies have at most 10 MB. `signal` of the request fires when its reader has gone. */
  handle(request: Request, parameters: Readonly<Record<string, string>>): Response | Promise<Response>
}
