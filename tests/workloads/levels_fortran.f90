! SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
!
! Truth: first_level, second_level and third_level of the module levels are inlined into computes
! and take 10, 30 and 60 % of the time. Runs until killed.
module levels
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  private
  public :: computes, unit
  integer(int64), parameter :: unit = 1000000_int64
contains

  integer(int64) function third_level(count) result(x)
    integer(int64), intent(in) :: count
    integer(int64) :: i
    x = 1
    do i = 1, 6 * count
      x = ieor(x * 3 + i, ishft(x, -7))
    end do
  end function

  integer(int64) function second_level(count) result(y)
    integer(int64), intent(in) :: count
    integer(int64) :: i
    y = 1
    do i = 1, 3 * count
      y = ieor(y * 3 + i, ishft(y, -7))
    end do
    y = y + third_level(count)
  end function

  integer(int64) function first_level(count) result(z)
    integer(int64), intent(in) :: count
    integer(int64) :: i
    z = 1
    do i = 1, count
      z = ieor(z * 3 + i, ishft(z, -7))
    end do
    z = z + second_level(count)
  end function

  subroutine computes(count, sum)
    integer(int64), intent(in) :: count
    integer(int64), intent(inout) :: sum
    sum = sum + first_level(count + mod(sum, 2_int64))
  end subroutine

end module

program shares
  use, intrinsic :: iso_fortran_env, only: int64, output_unit
  use levels
  implicit none
  integer(int64) :: sum = 0
  write (output_unit, '(a)') 'ready'
  flush (output_unit)
  do
    call computes(unit, sum)
  end do
end program
