export { type ExtractSubject, testExtractProvider } from './extract-cases.js'
export { type SearchSubject, testSearchProvider } from './search-cases.js'
