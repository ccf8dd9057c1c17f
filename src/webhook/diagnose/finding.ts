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
 * | `reserialized_body` | body: JSON that was parsed and serialized again |
 * | `base64_body` | body: base64 that was not decoded, as from API gateways |
 * | `wrong_charset` | body: its bytes were not decoded as UTF-8 |
 * | `stripped_newline`, `added_newline` | body: a line break or white space at its end was removed or added |
 * | `secret_whitespace` | secret: it starts or ends with white space |
 * | `quoted_secret` | secret: it is inside quotation marks |
 * | `other_secret_matches` | secret: the message is signed with a later secret of the list |
 * | `unexplained` | no known cause |
 */
export type FindingCode = keyof typeof MESSAGES

/** One cause, and a suggested fix. */
export interface Finding {
  /** Identifies the cause. */
  code: FindingCode
  /** Contains no secret, no signature and no part of the body. */
  message: string
}

const MESSAGES = {
  missing_signature:
    'There is no signature. Pass the value of the x-service-signature header. Check that no proxy drops it, and that ' +
    'the webhook is registered with a secret: without a secret the service does not sign.',
  prefixed_signature:
    'The signature has a prefix (such as sha256=). The service sends none. Check for a proxy that adds it, and whether ' +
    'another service sent this message.',
  uppercase_signature:
    'The signature has upper-case digits. The service sends lowercase digits. Check for a proxy that changes the ' +
    'header. Sign your own messages with signWebhook().',
  base64_signature:
    'The signature is base64. The service sends lowercase hexadecimal digits. Check for a proxy that changes the ' +
    'header. Sign your own messages with signWebhook().',
  malformed_signature:
    'The header is not one value of 64 lowercase hexadecimal digits. Pass the x-service-signature header as it arrived, ' +
    'and check that nothing shortens it, quotes it or adds a second value.',
  parsed_body:
    'The body was parsed. The signature needs its raw bytes: read them before any JSON middleware (Express: ' +
    'express.raw({ type: "*/*" }) on this route; fetch handlers: await request.arrayBuffer()).',
  missing_body:
    'There is no body. It was not read yet, or something else has consumed it. Read it once, and pass the bytes.',
  reserialized_body:
    'The body was parsed and serialized again, so its bytes are not the signed bytes. Pass the bytes as they arrived ' +
    'instead of JSON.stringify(body).',
  base64_body: 'The body is base64. API gateways set isBase64Encoded. Decode it first: Buffer.from(body, "base64").',
  wrong_charset:
    'The body was not decoded as UTF-8: its bytes were read as Latin-1, or replaced by U+FFFD. Pass the bytes ' +
    'themselves, or decode all of them at once as UTF-8.',
  stripped_newline: 'The line break at the end of the body was removed. The signature covers it: do not trim the body.',
  added_newline:
    'The body ends with white space that was not signed. Do not add any: editors and echo add a line break to a file.',
  secret_whitespace:
    'The secret starts or ends with white space, such as the line break at the end of a file. Remove it where the ' +
    'secret is stored, or trim the secret after reading it.',
  quoted_secret: 'The secret is inside quotation marks. Remove them where it is stored.',
  other_secret_matches:
    'The message is not signed with the first secret of the list, but with a later one. Pass the whole list wherever ' +
    'you verify.',
  unexplained:
    'No known cause. Either the message is signed with another secret (each webhook has its own; was it replaced?), or ' +
    'the body was changed: check for middleware and proxies that parse, decompress or rewrite it.',
}

export const finding = (code: FindingCode): Finding => ({ code, message: MESSAGES[code] })
