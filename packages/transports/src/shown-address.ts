/** An address fit for a message: without user, password, query and fragment, which may hold a key. */
export function shownAddress(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null
  if (!url || !/^https?:$/.test(url.protocol)) return address.replace(/(^|\/\/)[^\s/@]*@/, '$1').replace(/[?#].*$/s, '')
  const isPlain = url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  return isPlain ? address : `${url.origin}${url.pathname}`
}
