/** The page of the console, built from src/console/page with the command. */
declare module '#console-page' {
  const assets: import('../../console/server/index.ts').PageAssets
  export default assets
}
