import type { ServerResponse } from 'node:http'
import { PATHS } from '../protocol.ts'

/** Reads a file of the built page. */
export type ReadPageFile = (name: 'page.js' | 'style.css') => string

const HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>campaign-client dev</title>
<link rel="icon" href="${PATHS.icon}" type="image/svg+xml">
<link rel="stylesheet" href="${PATHS.style}">
<script type="module" src="${PATHS.script}"></script>
</head>
<body>
<div id="root"></div>
<noscript>The console needs JavaScript. The service itself works without it.</noscript>
</body>
</html>
`

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#3d4bc7"/><path d="M9 21V11l7 6 7-6v10" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>`

const SECURITY_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // A cached page would show the service of an earlier run.
  'cache-control': 'no-store',
} as const

/** Sends a text with headers that prevent a browser from loading or running anything else. */
export function sendText(
  response: ServerResponse,
  status: number,
  type: string,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8`, ...SECURITY_HEADERS, ...headers }).end(text)
}

/** The first segments of the page's paths. */
const SECTIONS = new Set(['', 'overview', 'start', 'users', 'requests', 'webhooks', 'faults', 'clock'])

/** Serves a file of the page. Serves the page with status 404 for an unknown path. The page then links to the overview. */
export function servePage(path: string, readFile: ReadPageFile, response: ServerResponse): void {
  if (path === PATHS.script) sendText(response, 200, 'text/javascript', readFile('page.js'))
  else if (path === PATHS.style) sendText(response, 200, 'text/css', readFile('style.css'))
  else if (path === PATHS.icon) sendText(response, 200, 'image/svg+xml', ICON)
  else sendText(response, SECTIONS.has(path.split('/')[1] ?? '') ? 200 : 404, 'text/html', HTML)
}
