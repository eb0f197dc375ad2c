/** What is told once where Chromium's sandbox is off. */
export const NO_SANDBOX =
  "Hermes runs as root here, where Chromium's own sandbox cannot work: pages run without that wall. Run Hermes as another user to have it."

/** What is told once of pages in Camofox. */
export const CAMOFOX_NOTICE =
  'Camofox shows the pages of the public web. It shows no request before it is made, so where its pages lead is asked about once they are there, and text goes to them only where you may send it.'
