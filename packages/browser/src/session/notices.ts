/** What is told once where Chromium's sandbox is off. */
export const NO_SANDBOX =
  "Hermes runs as root here, where Chromium's own sandbox cannot work: pages run without that wall. Run Hermes as another user to have it."
