export { createContextCompressor } from './compressor.js'
export type { CompressionSettings } from './settings.js'
