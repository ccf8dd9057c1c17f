import 'reflect-metadata'
import * as x509 from '@peculiar/x509'

/** A certificate with its key, in PEM. */
export interface Identity {
  readonly cert: string
  readonly key: string
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const DAY_MS = 86_400_000

interface Issuer {
  readonly certificate: x509.X509Certificate
  readonly keys: CryptoKeyPair
}

/** A certificate authority for tests. */
export class TestAuthority {
  readonly cert: string
  readonly #issuer: Issuer

  private constructor(issuer: Issuer) {
    this.#issuer = issuer
    this.cert = issuer.certificate.toString('pem')
  }

  static async create(name = 'Test authority'): Promise<TestAuthority> {
    const keys = await newKeys()
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      name: `CN=${name}`,
      ...valid(-DAY_MS, DAY_MS),
      keys,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(true, 1, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      ],
    })
    return new TestAuthority({ certificate, keys })
  }

  /** Creates a certificate for a host. `from` and `to` are in milliseconds from now. */
  async issue(host: string, [from, to] = [-DAY_MS, DAY_MS]): Promise<Identity> {
    const keys = await newKeys()
    const type = /^[\d.]+$|:/.test(host) ? 'ip' : 'dns'
    const certificate = await x509.X509CertificateGenerator.create({
      subject: `CN=${host}`,
      issuer: this.#issuer.certificate.subject,
      ...valid(from as number, to as number),
      publicKey: keys.publicKey,
      signingKey: this.#issuer.keys.privateKey,
      signingAlgorithm: ALGORITHM,
      extensions: [new x509.SubjectAlternativeNameExtension([{ type, value: host }])],
    })
    const key = await crypto.subtle.exportKey('pkcs8', keys.privateKey)
    return { cert: certificate.toString('pem'), key: x509.PemConverter.encode(key, 'PRIVATE KEY') }
  }
}

const newKeys = (): Promise<CryptoKeyPair> => crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])

const valid = (from: number, to: number): { notBefore: Date; notAfter: Date } => ({
  notBefore: new Date(Date.now() + from),
  notAfter: new Date(Date.now() + to),
})
