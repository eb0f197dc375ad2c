export { type PlatformSubject, testPlatform } from './test-platform.js'
