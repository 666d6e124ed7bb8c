import { Type } from 'typebox'

export const feedbackShape = Type.Object({ feedbackId: Type.String() })
