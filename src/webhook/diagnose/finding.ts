/**
 * What {@link diagnoseWebhook} can find.
 *
 * | code | about |
 * |---|---|
 * | `missing_signature` | header: none, or an empty one |
 * | `several_signatures` | header: more than one value |
 * | `signature_whitespace` | header: white space or quotation marks around it |
 * | `prefixed_signature` | header: a prefix such as `sha256=` |
 * | `uppercase_signature` | header: upper-case digits |
 * | `base64_signature` | header: base64 in place of hexadecimal digits |
 * | `malformed_signature` | header: none of these forms |
 * | `parsed_body` | body: an object, or what became of one that was turned into text |
 * | `missing_body` | body: `undefined`, `null` or empty |
 * | `reserialized_body` | body: JSON that was parsed and written again |
 * | `base64_body` | body: still in base64, as API gateways hand it over |
 * | `wrong_charset` | body: its bytes were read as Latin-1 |
 * | `lossy_text` | body: bytes that are not UTF-8 were replaced while it was turned into text |
 * | `stripped_bom`, `added_bom` | body: a byte order mark at its start |
 * | `stripped_newline`, `added_newline`, `changed_newlines` | body: line breaks |
 * | `secret_whitespace` | secret: white space around it |
 * | `quoted_secret` | secret: quotation marks around it |
 * | `hex_secret`, `base64_secret` | secret: the text of bytes that are the real key |
 * | `decoded_secret` | secret: bytes whose text is the real key |
 * | `other_secret_matches` | secret: one that is not the first of the list signed it |
 * | `unexplained` | none of the usual causes |
 */
export type FindingCode = HeaderFindingCode | BodyFindingCode | SecretFindingCode | 'unexplained'

export type HeaderFindingCode =
  | 'missing_signature'
  | 'several_signatures'
  | 'signature_whitespace'
  | 'prefixed_signature'
  | 'uppercase_signature'
  | 'base64_signature'
  | 'malformed_signature'

export type BodyFindingCode =
  | 'parsed_body'
  | 'missing_body'
  | 'reserialized_body'
  | 'base64_body'
  | 'wrong_charset'
  | 'lossy_text'
  | 'stripped_bom'
  | 'added_bom'
  | 'stripped_newline'
  | 'added_newline'
  | 'changed_newlines'

export type SecretFindingCode =
  | 'secret_whitespace'
  | 'quoted_secret'
  | 'hex_secret'
  | 'base64_secret'
  | 'decoded_secret'
  | 'other_secret_matches'

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
  several_signatures:
    'The header has several values, and which one to trust is unclear, so all are refused. Find what adds the others: ' +
    'a proxy, or a test that sends the header twice.',
  signature_whitespace:
    'There is white space, or are quotation marks, around the signature. Pass the header as it arrived; the service ' +
    'sends 64 digits and nothing else.',
  prefixed_signature:
    'The signature has a prefix (such as sha256=). The service sends none: find what puts it there, or which other ' +
    'service this message is from.',
  uppercase_signature:
    'The signature has upper-case digits. The service sends lowercase ones: find what changes the header, or sign with ' +
    'signWebhook().',
  base64_signature:
    'The signature is base64. The service sends lowercase hexadecimal digits: find what changes the header, or sign ' +
    'with signWebhook().',
  malformed_signature:
    'The header is not a signature: 64 lowercase hexadecimal digits are expected. Check which header is passed ' +
    '(x-service-signature), and that nothing cuts it off.',
  parsed_body:
    'The body is an object, and what was signed is text. If it was parsed, read the raw body before any JSON ' +
    'middleware does (Express: express.raw({ type: "*/*" }) on this route); if it is yet to be read, read it (fetch ' +
    'handlers: await request.arrayBuffer()).',
  missing_body:
    'There is no body. Either nothing has read it yet, or something else has already consumed it: read it once, and ' +
    'pass what was read.',
  reserialized_body:
    'The body is JSON that was parsed and written again: its data is right, its bytes are not those that were signed. ' +
    'Pass the bytes as they arrived in place of JSON.stringify(body).',
  base64_body:
    'The body is still base64. Decode it first: API gateways say so with isBase64Encoded (Buffer.from(body, "base64")).',
  wrong_charset: 'The bytes of the body were read as Latin-1. Pass the bytes themselves, or decode them as UTF-8.',
  lossy_text:
    'The body holds replacement characters (U+FFFD): its bytes were decoded one piece at a time, or in another charset ' +
    'than UTF-8, and what they were is lost. Pass the bytes themselves.',
  stripped_bom:
    'A byte order mark at the start of the body was removed. It is signed like everything else: pass the bytes as they ' +
    'arrived (Response.text() and TextDecoder remove it).',
  added_bom: 'The body starts with a byte order mark that was not there when it was signed. Find what adds it.',
  stripped_newline:
    'The line break at the end of the body was removed. It is signed like everything else: do not trim the body.',
  added_newline:
    'There is white space at the end of the body that was not there when it was signed. Find what adds it (an editor, ' +
    'echo and files end with a line break), and do not sign or send it.',
  changed_newlines:
    'The line breaks of the body were changed (between CR LF and LF). Pass the bytes as they arrived; a file in a Git ' +
    'checkout may have been converted.',
  secret_whitespace:
    'There is white space around the secret: a line break at the end of a file or variable, for instance. Remove it ' +
    'where the secret is stored, or trim it where it is read.',
  quoted_secret: 'There are quotation marks around the secret. Remove them where it is stored.',
  hex_secret:
    'The secret is hexadecimal text, and the key is the bytes it stands for. Decode it: ' +
    'new Uint8Array(Buffer.from(secret, "hex")).',
  base64_secret:
    'The secret is base64 text, and the key is the bytes it stands for. Decode it: ' +
    'new Uint8Array(Buffer.from(secret, "base64")).',
  decoded_secret:
    'The secret was decoded from hexadecimal digits or base64, and the key is the text itself. Pass the text as ' +
    'registered with the service.',
  other_secret_matches:
    'The message is signed with another secret than the first of the list. Use the whole list everywhere: where the ' +
    'first is used alone, the message does not verify.',
  unexplained:
    'None of the usual causes. Either the message was signed with another secret (each webhook has its own; was it ' +
    'replaced?), or the body was changed on the way: parsed and re-serialised, decompressed, or altered.',
}

export const finding = (code: FindingCode): Finding => ({ code, message: MESSAGES[code] })
