! SPDX-License-Identifier: MIT
! Scopes from Fortran: the functions behind proton/proton.h by their names in the library.
!
!	gfortran -O2 -o scopes_f scopes.f90 $(pkg-config --libs proton)
!	proton record -o run.hatchet ./scopes_f && proton report --view host run.hatchet
!
! Text ends with a null character, as C wants it. Without a profiler each call returns at once.
module proton
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_null_char
  implicit none
  private
  public :: enter_scope, exit_scope, scope_metric

  interface
    integer(c_int) function proton_enter(name) bind(c, name='proton_api_enter_scope')
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: name(*)
    end function

    integer(c_int) function proton_exit() bind(c, name='proton_api_exit_scope')
      import :: c_int
    end function

    subroutine proton_metric(name, value) bind(c, name='proton_api_metric_f64')
      import :: c_char, c_double
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: value
    end subroutine
  end interface

contains

  subroutine enter_scope(name)
    character(*), intent(in) :: name
    integer(c_int) :: depth

    depth = proton_enter(name // c_null_char)
  end subroutine

  subroutine exit_scope()
    integer(c_int) :: depth

    depth = proton_exit()
  end subroutine

  subroutine scope_metric(name, value)
    character(*), intent(in) :: name
    real(c_double), intent(in) :: value

    call proton_metric(name // c_null_char, value)
  end subroutine
end module

program heat
  use proton
  implicit none
  integer, parameter :: n = 1000, steps = 100
  real(8) :: plate(n, n) = 0
  integer :: step

  plate(:, 1) = 1
  do step = 1, steps
    call enter_scope('step')
    call spread()
    call scope_metric('flops64', 4d0 * (n - 2) * (n - 2))
    call exit_scope()
  end do
  print '(a, f10.4)', 'mean', sum(plate) / size(plate)

contains

  subroutine spread()
    real(8) :: before(n, n)

    call enter_scope('copy')
    before = plate
    call exit_scope()
    call enter_scope('stencil')
    plate(2:n-1, 2:n-1) = (before(1:n-2, 2:n-1) + before(3:n, 2:n-1) &
      + before(2:n-1, 1:n-2) + before(2:n-1, 3:n)) / 4
    call exit_scope()
  end subroutine
end program
