import { RouterProvider } from '@tanstack/react-router'
import { router } from './router.tsx'

/** Everything behind the sign-in, loaded when somebody comes in. */
export const SignedIn = () => <RouterProvider router={router} />
