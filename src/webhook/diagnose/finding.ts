/**
 * The causes that `diagnoseWebhook` finds.
 *
 * | code | about |
 * |---|---|
 * | `missing_signature` | header: absent or empty |
 * | `prefixed_signature` | header: a prefix such as `sha256=` |
 * | `uppercase_signature` | header: upper-case digits |
 * | `base64_signature` | header: base64 instead of hexadecimal digits |
 * | `malformed_signature` | header: anything else that is not one value of 64 lowercase hexadecimal digits |
 * | `parsed_body` | body: an object, or an object that was converted to text |
 * | `missing_body` | body: `undefined`, `null` or empty |
 * | `reserialized_body` | body: JSON that was parsed and written again |
 * | `base64_body` | body: still base64, as API gateways pass it on |
 * | `wrong_charset` | body: its bytes were not decoded as UTF-8 |
 * | `stripped_newline`, `added_newline` | body: a line break or white space at its end was removed or added |
 * | `secret_whitespace` | secret: white space or a line break around it |
 * | `quoted_secret` | secret: quotation marks around it |
 * | `other_secret_matches` | secret: another one than the first of the list signed the message |
 * | `unexplained` | none of the usual causes |
 */
export type FindingCode =
  | 'missing_signature'
  | 'prefixed_signature'
  | 'uppercase_signature'
  | 'base64_signature'
  | 'malformed_signature'
  | 'parsed_body'
  | 'missing_body'
  | 'reserialized_body'
  | 'base64_body'
  | 'wrong_charset'
  | 'stripped_newline'
  | 'added_newline'
  | 'secret_whitespace'
  | 'quoted_secret'
  | 'other_secret_matches'
  | 'unexplained'

/** One cause, and what to do about it. */
export interface Finding {
  code: FindingCode
  /** Holds no secret, no signature and nothing of the body. */
  message: string
}

const MESSAGES: Readonly<Record<FindingCode, string>> = {
  missing_signature:
    'There is no signature. Pass the value of the x-service-signature header, check that no proxy drops it, and that ' +
    'the webhook is registered with a secret: without one the service signs nothing.',
  prefixed_signature:
    'The signature has a prefix (such as sha256=). The service sends none: find what adds it, or which other service ' +
    'sent this message.',
  uppercase_signature:
    'The signature has upper-case digits. The service sends lowercase ones: find what changes the header, or sign with ' +
    'signWebhook().',
  base64_signature:
    'The signature is base64. The service sends lowercase hexadecimal digits: find what changes the header, or sign ' +
    'with signWebhook().',
  malformed_signature:
    'The header is not one value of 64 lowercase hexadecimal digits. Pass the x-service-signature header as it arrived, ' +
    'and check that nothing shortens it, quotes it or adds a second value.',
  parsed_body:
    'The body was parsed; the signature covers its text. Read the raw body before any JSON middleware does (Express: ' +
    'express.raw({ type: "*/*" }) on this route; fetch handlers: await request.arrayBuffer()).',
  missing_body:
    'There is no body. Either nothing has read it yet, or something else consumed it: read it once, and pass the bytes.',
  reserialized_body:
    'The body was parsed and written again as JSON, so its bytes are not the signed ones. Pass the bytes as they ' +
    'arrived instead of JSON.stringify(body).',
  base64_body:
    'The body is still base64. Decode it first: API gateways set isBase64Encoded (Buffer.from(body, "base64")).',
  wrong_charset:
    'The body was not decoded as UTF-8: its bytes were read as Latin-1, or replaced by U+FFFD. Pass the bytes ' +
    'themselves, or decode all of them at once as UTF-8.',
  stripped_newline: 'The line break at the end of the body was removed. It is signed: do not trim the body.',
  added_newline:
    'There is white space at the end of the body that was not signed. Find what adds it: an editor or echo ends a file ' +
    'with a line break.',
  secret_whitespace:
    'There is white space around the secret, for instance a line break at the end of a file or variable. Remove it ' +
    'where the secret is stored, or trim it where it is read.',
  quoted_secret: 'There are quotation marks around the secret. Remove them where it is stored.',
  other_secret_matches:
    'The message is signed with another secret than the first of the list. Pass the whole list wherever you verify.',
  unexplained:
    'None of the usual causes. Either another secret signed the message (each webhook has its own; was it replaced?), ' +
    'or the body was changed on the way: check for middleware and proxies that parse, decompress or rewrite it.',
}

/** Returns the finding of a code. */
export const finding = (code: FindingCode): Finding => ({ code, message: MESSAGES[code] })
