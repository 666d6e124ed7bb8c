import { type Bytes, fromHex } from '../encoding/bytes.ts'

/** DER around the raw ML-KEM-768 forms: SubjectPublicKeyInfo, and PKCS#8 with the 64-byte seed. */
export const ML_KEM_SPKI_PREFIX: Bytes = /* @__PURE__ */ fromHex('308204b2300b0609608648016503040402038204a100')
export const ML_KEM_PKCS8_PREFIX: Bytes = fromHex('3054020100300b060960864801650304040204428040')
